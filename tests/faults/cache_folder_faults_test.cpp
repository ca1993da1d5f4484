// The folder of the user cache is missing, read-only, full, planted or damaged. Each time, the
// result is right, a report has at most one warning, and no partial entry is left.
#include "faults/cache_folder_check.hpp"
#include "faults/host_run.hpp"
#include "faults/mount_namespace.hpp"
#include "support/fault_layer.hpp"

#include "base/file_io.hpp"
#include "support/texts.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uid_t k_another_user = 12345;

class CacheFolderFaults : public ::testing::Test {
protected:
  void SetUp() override {
    set_faults("");
    m_platform = fastest_cached_platform();
    if (m_platform == nullptr) {
      GTEST_SKIP() << "no platform here uses the user cache";
    }
  }

  [[nodiscard]] fs::path outside() const { return m_outside.path(); }
  [[nodiscard]] fs::path folder() const { return m_outside.path() / "cache"; }
  [[nodiscard]] fs::path only_entry() const {
    for (const auto& item : fs::directory_iterator(folder() / "programs")) {
      if (item.path().extension() == ".clbin") {
        return item.path();
      }
    }
    ADD_FAILURE() << "no entry was stored";
    return {};
  }

  [[nodiscard]] HostRun start(BundleKind kind, HostStart how = {}) const {
    how.environment.emplace("CLBIN_CACHE_DIR", folder().string());
    return run_host(*m_platform, m_platform->bundle(kind), how);
  }
  [[nodiscard]] HostRun start() const { return start(BundleKind::source); }

  // Fills the cache.
  void warm() const {
    EXPECT_EQ(start().summary(), "source 42 63");
    EXPECT_EQ(start().summary(), "user cache 42 63");
  }
  // Source is built, and the report says once why the result is not cached. The bundle's own entry
  // also loads with one warning, because its attempt cannot be marked.
  void expect_no_cache(const std::string& reason) const {
    for (int i = 0; i < 2; ++i) {
      const HostRun run = start();
      EXPECT_EQ(run.summary(), "source 42 63") << run.output;
      EXPECT_THAT(run.last().warnings, ElementsAre(HasSubstr(reason))) << run.output;
    }
    const HostRun run = start(BundleKind::both);
    EXPECT_EQ(run.summary(), "entry 42 63") << run.output;
    EXPECT_THAT(run.last().warnings, ElementsAre(HasSubstr(reason))) << run.output;
  }
  static void expect_right(const HostRun& run) {
    EXPECT_THAT(run.summary(), AnyOf("source 42 63", "user cache 42 63")) << run.output;
    EXPECT_LE(run.last().warnings.size(), 1U) << run.output;
  }

  base::TemporaryFolder m_outside =
      base::TemporaryFolder::create({}, "clbin-cache-faults-").value();
  const HostPlatform* m_platform = nullptr;
};

TEST_F(CacheFolderFaults, MissingWithItsParentsIsMade) {
  HostStart how;
  how.environment["CLBIN_CACHE_DIR"] = (folder() / "a" / "b").string();
  EXPECT_EQ(start(BundleKind::source, how).summary(), "source 42 63");
  const HostRun second = start(BundleKind::source, how);
  EXPECT_EQ(second.summary(), "user cache 42 63");
  EXPECT_THAT(second.last().warnings, IsEmpty());
  EXPECT_EQ(fs::status(folder() / "a" / "b").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(fs::exists(folder() / "a" / "b" / "CACHEDIR.TAG"));
}

TEST_F(CacheFolderFaults, AFileInItsPlaceIsLeftAlone) {
  test::write_text(folder(), "mine");
  expect_no_cache("cannot open the cache directory '" + folder().string() + "': Not a directory");
  EXPECT_EQ(test::file_text(folder()), "mine");
}

TEST_F(CacheFolderFaults, AFileInThePlaceOfItsProgramsIsLeftAlone) {
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::owner_all);
  test::write_text(folder() / "programs", "mine");
  for (int i = 0; i < 2; ++i) {
    const HostRun run = start();
    EXPECT_EQ(run.summary(), "source 42 63") << run.output;
    EXPECT_THAT(run.last().warnings, ElementsAre(HasSubstr("/programs': Not a directory")));
  }
  EXPECT_EQ(test::file_text(folder() / "programs"), "mine");
}

TEST_F(CacheFolderFaults, WorldWritableIsNotUsed) {
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::all);
  expect_no_cache("other users may write to it (mode 0777)");
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(CacheFolderFaults, WorldWritableLaterServesNothingOfWhatIsThere) {
  warm();
  fs::permissions(folder() / "programs", fs::perms::all);
  const HostRun run = start();
  EXPECT_EQ(run.summary(), "source 42 63") << run.output;
  EXPECT_THAT(run.last().warnings, ElementsAre(HasSubstr("other users may write to it")));
  expect_whole_cache(folder());
}

TEST_F(CacheFolderFaults, ALinkToAnotherUsersFolderIsNotFollowed) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can make a folder of another user";
  }
  const fs::path theirs = outside() / "theirs";
  fs::create_directory(theirs);
  fs::permissions(theirs, fs::perms::owner_all);
  ASSERT_EQ(chown(theirs.c_str(), k_another_user, k_another_user), 0);
  fs::create_symlink(theirs, folder());
  expect_no_cache("it belongs to another user (uid 12345)");
  EXPECT_TRUE(fs::is_empty(theirs));
}

TEST_F(CacheFolderFaults, AnEntryThatAnotherUserPlantedIsRemoved) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can make a file of another user";
  }
  warm();
  ASSERT_EQ(chown(only_entry().c_str(), k_another_user, k_another_user), 0);
  EXPECT_EQ(start().summary(), "source 42 63");
  EXPECT_EQ(start().summary(), "user cache 42 63");
  struct stat status {};
  ASSERT_EQ(stat(only_entry().c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, geteuid());
}

TEST_F(CacheFolderFaults, AnEntryOfAnotherProgramInItsPlaceIsRemoved) {
  warm();
  const fs::path entry = only_entry();
  HostStart other;
  other.arguments = {"--build-options", "-DTWICE=5"};
  EXPECT_EQ(start(BundleKind::source, other).summary(), "source 105 63");
  for (const auto& item : fs::directory_iterator(folder() / "programs")) {
    if (item.path().extension() == ".clbin" && item.path() != entry) {
      fs::rename(item.path(), entry);
    }
  }
  EXPECT_EQ(start().summary(), "source 42 63");
  EXPECT_EQ(start().summary(), "user cache 42 63");
}

TEST_F(CacheFolderFaults, ReadOnlyIsReadAndNotWritten) {
  if (const std::string reason = why_no_mounts(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  warm();
  const std::string before = test::file_text(only_entry());
  const auto end = run_in_child([&] {
    enter_mount_namespace();
    mount_read_only(folder());
    const HostRun hit = start();
    EXPECT_EQ(hit.summary(), "user cache 42 63") << hit.output;
    EXPECT_LE(hit.last().warnings.size(), 1U) << hit.output;
    HostStart other;
    other.arguments = {"--build-options", "-DTWICE=5"};
    const HostRun miss = start(BundleKind::source, other);
    EXPECT_EQ(miss.summary(), "source 105 63") << miss.output;
    EXPECT_THAT(miss.last().warnings, ElementsAre(HasSubstr("Read-only file system")));
    return 0;
  });
  EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
  EXPECT_EQ(test::file_text(only_entry()), before);
  expect_whole_cache(folder());
}

TEST_F(CacheFolderFaults, ReadOnlyAndEmptyIsDoneWithout) {
  if (const std::string reason = why_no_mounts(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::owner_all);
  const auto end = run_in_child([&] {
    enter_mount_namespace();
    mount_read_only(folder());
    expect_no_cache("Read-only file system");
    return 0;
  });
  EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
}

TEST_F(CacheFolderFaults, AFullDiskLeavesNoHalfEntry) {
  if (const std::string reason = why_no_mounts(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  fs::create_directory(folder());
  constexpr std::size_t k_page = 4096;
  for (const std::size_t pages : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 64U}) {
    SCOPED_TRACE(std::to_string(pages) + " pages");
    const auto end = run_in_child([&] {
      enter_mount_namespace();
      mount_small(folder(), pages * k_page);
      std::vector<std::string> summaries;
      for (int i = 0; i < 3; ++i) {
        HostStart how;
        how.arguments = {"--loads", "2"};
        const HostRun run = start(BundleKind::source, how);
        expect_right(run);
        summaries.push_back(run.summary());
        expect_whole_cache(folder());
      }
      const HostRun entry = start(BundleKind::both);
      EXPECT_EQ(entry.summary(), "entry 42 63") << entry.output;
      EXPECT_LE(entry.last().warnings.size(), 1U) << entry.output;
      EXPECT_EQ(summaries.back(), pages == 64 ? "user cache 42 63" : summaries.back());
      return 0;
    });
    EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
  }
}

TEST_F(CacheFolderFaults, NoRoomForAnEntryIsSaidOnce) {
  if (const std::string reason = why_no_mounts(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  fs::create_directory(folder());
  const auto end = run_in_child([&] {
    enter_mount_namespace();
    mount_small(folder(), 4096);
    HostStart how;
    how.arguments = {"--loads", "3"};
    const HostRun run = start(BundleKind::source, how);
    EXPECT_THAT(run.loads, SizeIs(3)) << run.output;
    std::vector<std::string> warnings;
    for (const LoadTold& load : run.loads) {
      EXPECT_EQ(load.outcome, "source");
      EXPECT_LE(load.warnings.size(), 1U) << run.output;
      warnings.insert(warnings.end(), load.warnings.begin(), load.warnings.end());
    }
    // Stores continue after the load. Their speed decides which later load reports them.
    EXPECT_THAT(warnings, Contains(HasSubstr("No space left on device"))) << run.output;
    return 0;
  });
  EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
}

// A write beyond the limit ends the process unless SIGXFSZ is handled.
TEST_F(CacheFolderFaults, ALimitOnFileSizesDoesNotEndTheProcess) {
  for (const auto handler : {SIG_DFL, SIG_IGN}) {
    for (const rlim_t limit : {2000U, 3000U, 20'000U}) {
      SCOPED_TRACE(std::to_string(limit) + (handler == SIG_DFL ? ", by signal" : ", by error"));
      fs::remove_all(folder());
      HostStart how;
      // NVIDIA's driver writes its own cache without blocking the signal.
      how.environment.emplace("CUDA_CACHE_DISABLE", "1");
      how.prepare = [=] {
        (void)std::signal(SIGXFSZ, handler);
        const rlimit bytes{limit, limit};
        (void)setrlimit(RLIMIT_FSIZE, &bytes);
        unsetenv("OPENCL_LAYERS"); // its log would exceed the limit, too
      };
      for (int i = 0; i < 2; ++i) {
        expect_right(start(BundleKind::source, how));
        expect_whole_cache(folder());
      }
    }
  }
}

TEST_F(CacheFolderFaults, TheClockSetBackLosesNothing) {
  HostStart ahead;
  ahead.days_later = 400;
  EXPECT_EQ(start(BundleKind::source, ahead).summary(), "source 42 63");
  for (const int days : {0, -400, 400, 0}) {
    HostStart how;
    how.days_later = days;
    const HostRun run = start(BundleKind::source, how);
    EXPECT_EQ(run.summary(), "user cache 42 63") << days << "\n" << run.output;
    EXPECT_THAT(run.last().warnings, IsEmpty());
  }
  HostStart other;
  other.days_later = -400;
  other.arguments = {"--build-options", "-DTWICE=5"};
  EXPECT_EQ(start(BundleKind::source, other).summary(), "source 105 63");
  EXPECT_EQ(start(BundleKind::source, other).summary(), "user cache 105 63");
  expect_whole_cache(folder());
}

// Tests every 16th length of the entry, on a real driver. user_cache_damage_test.cpp tests every
// one.
TEST_F(CacheFolderFaults, CutEntriesAndThoseOfAnotherVersionAreBuiltAgain) {
  warm();
  const fs::path entry = only_entry();
  const std::string whole = test::file_text(entry);
  constexpr std::size_t k_major_version_at = 8; // clbin(5)
  std::vector<std::string> damaged{whole + "x", whole};
  damaged.back()[k_major_version_at] = 2;
  for (std::size_t i = 0; i < 16; ++i) {
    damaged.push_back(whole.substr(0, i * whole.size() / 16));
  }
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    SCOPED_TRACE("damage " + std::to_string(i));
    test::write_text(entry, damaged[i]);
    const HostRun run = start();
    EXPECT_EQ(run.summary(), "source 42 63") << run.output;
    EXPECT_THAT(run.last().warnings, IsEmpty()) << run.output;
    ASSERT_FALSE(run.last().attempts.empty());
    EXPECT_THAT(run.last().attempts[0].reason, HasSubstr("removed a damaged entry of the"));
    EXPECT_EQ(test::file_text(entry), whole);
  }
}

// A flipped bit in the reflection of kernels is harmless, because loads do not read it.
TEST_F(CacheFolderFaults, FlippedBitsNeverReachTheResult) {
  warm();
  const fs::path entry = only_entry();
  const std::string whole = test::file_text(entry);
  for (std::size_t i = 0; i < 16; ++i) {
    SCOPED_TRACE("damage at " + std::to_string(i) + " / 16");
    std::string damaged = whole;
    char& byte = damaged[i * whole.size() / 16];
    byte = static_cast<char>(byte ^ 0x10);
    test::write_text(entry, damaged);
    expect_right(start());
    test::write_text(entry, whole);
    EXPECT_EQ(start().summary(), "user cache 42 63");
  }
}

} // namespace
} // namespace clbin::test
