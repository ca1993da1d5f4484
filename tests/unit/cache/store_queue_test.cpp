#include "cache/keyed_store.hpp"

#include "cache_test_case.hpp"
#include "support/child_process.hpp"

#include <gmock/gmock.h>
#include <thread>

namespace clbin::cache {
namespace {

using ::testing::HasSubstr;

class StoreQueueTest : public CacheTestCase {
protected:
  [[nodiscard]] StoreJob job_of(const std::string& source) {
    const Recipe recipe = recipe_of(source);
    return {recipe, "matmul",
            test::sample_entry("default", test::sample_device("a device"), payload_of(source)),
            user_cache().claim_build(recipe_key(recipe))};
  }
};

TEST_F(StoreQueueTest, HasWrittenAllWhenItIsGone) {
  {
    StoreQueue queue(user_cache());
    for (const char* source : {"one", "two", "three"}) {
      queue.add(job_of(source));
    }
  }
  for (const char* source : {"one", "two", "three"}) {
    EXPECT_TRUE(is_hit(user_cache(), source)) << source;
  }
  EXPECT_EQ(count_files(programs(), ".lock"), 0U); // the claims are released
}

TEST_F(StoreQueueTest, HasWrittenAllWhenItIsDrained) {
  StoreQueue queue(user_cache());
  queue.drain();
  for (const char* source : {"one", "two", "three"}) {
    queue.add(job_of(source));
    queue.drain();
    EXPECT_TRUE(is_hit(user_cache(), source)) << source;
  }
}

TEST_F(StoreQueueTest, GoesOnAfterItHadNothingToDo) {
  StoreQueue queue(user_cache());
  queue.add(job_of("one"));
  while (!is_hit(user_cache(), "one")) {
    std::this_thread::yield();
  }
  queue.add(job_of("two"));
  while (!is_hit(user_cache(), "two")) {
    std::this_thread::yield();
  }
}

TEST_F(StoreQueueTest, TellsOnceWhatCouldNotBeStored) {
  std::filesystem::create_directories(root().parent_path());
  write(root(), "a file in the folder's place");
  StoreQueue queue(user_cache());
  EXPECT_EQ(queue.take_warning(), "");
  queue.add(job_of("one"));
  std::string warning;
  while (warning.empty()) {
    std::this_thread::yield();
    warning = queue.take_warning();
  }
  EXPECT_THAT(warning, HasSubstr("Not a directory"));
  EXPECT_EQ(queue.take_warning(), "");
}

TEST_F(StoreQueueTest, WritesAtOnceInAForkedChild) {
  StoreQueue queue(user_cache());
  const auto end = test::run_in_child([&] {
    queue.add(job_of("one"));
    return is_hit(user_cache(), "one") ? 0 : 1;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(is_hit(user_cache(), "one"));
}

// The writing thread may hold any lock at the moment of the fork.
TEST_F(StoreQueueTest, MayBeDestroyedInAChildForkedWhileItWrites) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "gcc 12's AddressSanitizer leaves its allocator locked in a forked child";
#elif defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "gcc 12's ThreadSanitizer mistakes a writer that has just ended for the child's";
#endif
  auto queue = std::make_unique<StoreQueue>(user_cache());
  for (int i = 0; i < 20; ++i) {
    queue->add(job_of("source " + std::to_string(i)));
    const auto end = test::run_in_child([&] {
      queue.reset();
      return 0;
    });
    ASSERT_EQ(end.exit_code, 0);
  }
  queue.reset();
  EXPECT_TRUE(is_hit(user_cache(), "source 19"));
}

TEST_F(StoreQueueTest, TakesJobsFromManyThreads) {
  {
    StoreQueue queue(user_cache());
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        queue.add(job_of("source " + std::to_string(i)));
        EXPECT_EQ(queue.take_warning(), "");
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  EXPECT_EQ(user_cache().statistics()->entries, 8U);
}

} // namespace
} // namespace clbin::cache
