// Many processes at once, and processes that are killed.
#include "broken_calls.hpp"
#include "cache/quarantine.hpp"
#include "cache_test_case.hpp"
#include "support/child_process.hpp"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <memory>
#include <sys/resource.h>
#include <thread>

namespace clbin::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Makes all children start at the same moment.
class StartingGate {
public:
  StartingGate() { EXPECT_EQ(pipe(m_ends), 0); }
  ~StartingGate() {
    close(m_ends[0]);
    open();
  }
  StartingGate(const StartingGate&) = delete;
  StartingGate& operator=(const StartingGate&) = delete;

  void open() {
    if (m_ends[1] >= 0) {
      close(m_ends[1]);
      m_ends[1] = -1;
    }
  }
  void wait_in_child() {
    open();
    char byte = 0;
    EXPECT_EQ(read(m_ends[0], &byte, 1), 0);
  }

private:
  int m_ends[2] = {-1, -1};
};

class KeyedStoreProcessesTest : public CacheTestCase {
protected:
  [[nodiscard]] KeyedStore waiting_cache() {
    CacheSettings real = settings();
    real.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    return {real, CacheKind::user};
  }

  // Acts like a load for which the bundle has no entry. Returns 0 if it gets the right program.
  int load(const KeyedStore& cache, const std::string& source) {
    if (is_hit(cache, source)) {
      return 0;
    }
    const BuildClaim claim = cache.claim_build(recipe_key(recipe_of(source)));
    if (claim.turn == Turn::look_again && is_hit(cache, source)) {
      return 0;
    }
    note_build();
    (void)store(cache, source);
    return 0;
  }
  void note_build() const {
    const int file = open((outside() / "builds").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    EXPECT_EQ(::write(file, "x", 1), 1);
    close(file);
  }
  [[nodiscard]] std::size_t build_count() const { return contents(outside() / "builds").size(); }

  template <typename Body>
  void run_together(int count, const Body& body) {
    StartingGate gate;
    std::vector<std::unique_ptr<test::ChildProcess>> children;
    for (int i = 0; i < count; ++i) {
      children.push_back(std::make_unique<test::ChildProcess>([&, i] {
        gate.wait_in_child();
        return body(i);
      }));
    }
    gate.open();
    for (auto& child : children) {
      EXPECT_EQ(child->wait().exit_code, 0);
    }
  }
};

TEST_F(KeyedStoreProcessesTest, OneOfManyBuildsAndTheOthersWait) {
  run_together(24, [this](int) { return load(waiting_cache(), "x"); });
  EXPECT_EQ(build_count(), 1U);
  const CacheStatistics statistics = statistics_of(user_cache());
  EXPECT_EQ(statistics.entries, 1U);
  EXPECT_EQ(statistics.counters.stores, 1U);
  EXPECT_EQ(count_files(programs(), ".new"), 0U);
  EXPECT_EQ(count_files(programs(), ".lock"), 0U);
}

TEST_F(KeyedStoreProcessesTest, ManyProgramsOfManyProcessesAllCome) {
  run_together(16, [this](int child) {
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(load(waiting_cache(), std::to_string((child + i) % 8)), 0);
    }
    return 0;
  });
  EXPECT_EQ(build_count(), 8U);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(is_hit(user_cache(), std::to_string(i)));
  }
}

TEST_F(KeyedStoreProcessesTest, LoadsWhileAnotherProcessDeletesTheCache) {
  test::ChildProcess deleter([this] {
    while (!std::filesystem::exists(outside() / "done")) {
      std::error_code ignored;
      std::filesystem::remove_all(root(), ignored);
    }
    return 0;
  });
  run_together(8, [this](int) {
    const KeyedStore cache = waiting_cache();
    for (int i = 0; i < 50; ++i) {
      const AttemptPermit permit = Quarantine(settings()).begin({}, {});
      EXPECT_EQ(permit.verdict, AttemptVerdict::go);
      EXPECT_EQ(load(cache, "x"), 0);
    }
    return 0;
  });
  write(outside() / "done", "");
  EXPECT_EQ(deleter.wait().exit_code, 0);
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreProcessesTest, StaysWithinItsSizeUnderManyWriters) {
  run_together(8, [this](int child) {
    CacheSettings small = settings();
    small.max_bytes = 20'000;
    // If the wait did not sleep, counter updates would be skipped, and these trigger evictions.
    small.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    const KeyedStore cache(small, CacheKind::user);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(store(cache, fmt::format("{} {}", child, i)), "");
    }
    return 0;
  });
  // Each process may have evicted for its own entry without knowing of the others' entries.
  EXPECT_LE(statistics_of(user_cache()).bytes, 20'000U + 8 * 2'000U);
}

TEST_F(KeyedStoreProcessesTest, TakesNoLockOnAFileThatIsGone) {
  const base::Digest key = recipe_key(recipe_of("x"));
  test::set_before_lock(
      [&] { std::filesystem::remove(programs() / (base::to_hex(key) + ".lock")); });
  const BuildClaim claim = user_cache().claim_build(key);
  EXPECT_EQ(claim.turn, Turn::build);
  EXPECT_EQ(user_cache().claim_build(key).turn, Turn::build_alone);
}

TEST_F(KeyedStoreProcessesTest, NobodyWaitsForADeadBuilder) {
  const base::Digest key = recipe_key(recipe_of("x"));
  const auto end = test::run_in_child([&] {
    const BuildClaim claim = user_cache().claim_build(key);
    EXPECT_EQ(claim.turn, Turn::build);
    (void)raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(end.signal_number, SIGKILL);
  EXPECT_EQ(count_files(programs(), ".lock"), 1U);
  EXPECT_EQ(user_cache().claim_build(key).turn, Turn::build);
  EXPECT_EQ(m_paused.count(), 0);
  EXPECT_EQ(count_files(programs(), ".lock"), 0U);
}

TEST_F(KeyedStoreProcessesTest, AProcessKilledBeforeTheRenameLeavesNoEntry) {
  const auto end = test::run_in_child([this] {
    (void)user_cache().claim_build(recipe_key(recipe_of("x"))); // creates the folder
    test::set_rename_fault(test::RenameFault::kill_before);
    (void)store(user_cache(), "x");
    return 0;
  });
  EXPECT_EQ(end.signal_number, SIGKILL);
  EXPECT_EQ(count_files(programs(), ".new"), 1U);
  EXPECT_EQ(look_up(user_cache(), "x").reason, "not in the user cache");
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreProcessesTest, AProcessKilledAfterTheRenameLeavesAWholeEntry) {
  const auto end = test::run_in_child([this] {
    (void)user_cache().claim_build(recipe_key(recipe_of("x")));
    test::set_rename_fault(test::RenameFault::kill_after);
    (void)store(user_cache(), "x");
    return 0;
  });
  EXPECT_EQ(end.signal_number, SIGKILL);
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreProcessesTest, ProcessesKilledAtAnyMomentLoseNothing) {
  EXPECT_EQ(store(user_cache(), "kept"), "");
  for (int round = 0; round < 40; ++round) {
    test::ChildProcess child([this] {
      while (true) {
        (void)store(user_cache(), "x");
        (void)user_cache().claim_build(recipe_key(recipe_of("y")));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
    child.kill_it(SIGKILL);
    EXPECT_EQ(child.wait().signal_number, SIGKILL);
    const LookUp found = look_up(user_cache(), "x");
    EXPECT_TRUE(found.hit.has_value() || found.reason == "not in the user cache") << found.reason;
    EXPECT_TRUE(is_hit(user_cache(), "kept"));
    EXPECT_EQ(user_cache().claim_build(recipe_key(recipe_of("y"))).turn, Turn::build);
  }
}

TEST_F(KeyedStoreProcessesTest, AFullDiskLeavesNoHalfEntryAndOneWarning) {
  EXPECT_EQ(store(user_cache(), "kept"), "");
  for (const std::size_t free_bytes : {0U, 1U, 100U, 300U, 600U}) {
    const auto end = test::run_in_child([&] {
      test::set_free_bytes(free_bytes);
      EXPECT_THAT(store(user_cache(), "x"), HasSubstr("No space left on device")) << free_bytes;
      EXPECT_FALSE(is_hit(user_cache(), "x"));
      EXPECT_TRUE(is_hit(user_cache(), "kept"));
      EXPECT_EQ(user_cache().claim_build(recipe_key(recipe_of("x"))).turn, Turn::build);
      return 0;
    });
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(count_files(programs(), ".new"), 0U);
  }
  const auto end = test::run_in_child([&] {
    test::set_free_bytes(0);
    const AttemptPermit permit = Quarantine(settings()).begin({}, {});
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    EXPECT_THAT(permit.warning, AllOf(StartsWith("the quarantine has no marker: "),
                                      HasSubstr("No space left on device")));
    return 0;
  });
  EXPECT_EQ(end.exit_code, 0);
}

// With the signals of an application: SIGXFSZ ends a process that does not handle it.
TEST_F(KeyedStoreProcessesTest, WarnsWhereTheProcessMayNotWriteLargeFiles) {
  EXPECT_EQ(store(user_cache(), "kept"), "");
  const auto end = test::run_in_child([&] {
    const rlimit limit{4, RLIM_INFINITY};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_THAT(store(user_cache(), "x"), HasSubstr("File too large"));
    EXPECT_FALSE(is_hit(user_cache(), "x"));
    EXPECT_TRUE(is_hit(user_cache(), "kept"));
    EXPECT_EQ(user_cache().claim_build(recipe_key(recipe_of("x"))).turn, Turn::build);
    const AttemptPermit permit = Quarantine(settings()).begin({}, {});
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    EXPECT_THAT(permit.warning, HasSubstr("File too large"));
    struct sigaction action {};
    EXPECT_EQ(::sigaction(SIGXFSZ, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
    return 0;
  });
  EXPECT_EQ(end, (test::ChildEnd{0, std::nullopt}));
  EXPECT_EQ(count_files(programs(), ".new"), 0U);
}

} // namespace
} // namespace clbin::cache
