// Uses one cache from many threads.
#include "cache/quarantine.hpp"
#include "cache_test_case.hpp"

#include <atomic>
#include <thread>

namespace clbin::cache {
namespace {

class KeyedStoreThreadsTest : public CacheTestCase {
protected:
  // The clock and the sleep of the test case are not thread-safe.
  [[nodiscard]] CacheSettings real_settings() {
    CacheSettings real = settings();
    real.now = [] { return std::chrono::system_clock::now(); };
    real.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    return real;
  }

  template <typename Body>
  static void run_together(int count, const Body& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back(body, i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

TEST_F(KeyedStoreThreadsTest, OneOfManyBuildsAndTheOthersWait) {
  const KeyedStore cache(real_settings(), CacheKind::user);
  std::atomic<int> builds{0};
  std::atomic<int> hits{0};
  run_together(16, [&](int) {
    const BuildClaim claim = cache.claim_build(recipe_key(recipe_of("x")));
    if (is_hit(cache, "x")) {
      ++hits;
      return;
    }
    ++builds;
    EXPECT_EQ(store(cache, "x"), "");
  });
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(hits, 15);
}

TEST_F(KeyedStoreThreadsTest, EveryThreadGetsItsOwnProgram) {
  CacheSettings small = real_settings();
  small.max_bytes = 30'000; // small enough that threads evict each other's entries
  const KeyedStore cache(small, CacheKind::user);
  run_together(8, [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const std::string source = std::to_string((thread + i) % 30);
      const LookUp found = look_up(cache, source);
      if (found.hit.has_value()) {
        EXPECT_EQ(found.hit->payload, payload_of(source));
      } else {
        EXPECT_EQ(found.reason, "not in the user cache");
        EXPECT_EQ(store(cache, source), "");
      }
      (void)cache.explain_miss(recipe_of(source));
      (void)statistics_of(cache);
    }
  });
}

TEST_F(KeyedStoreThreadsTest, AttemptsOfManyThreadsAllGoOnAndTellOfNoDeath) {
  const Quarantine quarantine(real_settings());
  run_together(8, [&](int) {
    for (int i = 0; i < 100; ++i) {
      const AttemptPermit permit = quarantine.begin({}, {});
      EXPECT_EQ(permit.verdict, AttemptVerdict::go);
      EXPECT_EQ(permit.warning, "");
    }
  });
  const std::string marker = std::string(64, '0') + "-" + std::string(64, '0');
  EXPECT_EQ(contents(root() / "attempts" / marker), std::string(8, '\0'));
}

} // namespace
} // namespace clbin::cache
