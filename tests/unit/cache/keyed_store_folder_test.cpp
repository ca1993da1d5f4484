// Unusable cache folders: the program still loads, and the report has one warning.
#include "cache/quarantine.hpp"
#include "cache_test_case.hpp"
#include "support/child_process.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace clbin::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t k_other_user = 65534; // nobody

class KeyedStoreFolderTest : public CacheTestCase {
protected:
  void expect_refused(const std::string& reason) {
    const KeyedStore cache = user_cache();
    const LookUp found = look_up(cache, "x");
    EXPECT_FALSE(found.hit.has_value());
    EXPECT_THAT(found.warning, AllOf(HasSubstr(reason), HasSubstr("cache directory")));
    EXPECT_THAT(store(cache, "x"), HasSubstr(reason));
    const BuildClaim claim = cache.claim_build(recipe_key(recipe_of("x")));
    EXPECT_EQ(claim.turn, Turn::build_alone);
    EXPECT_THAT(claim.warning, HasSubstr(reason));
    const AttemptPermit permit = Quarantine(settings()).begin({}, {});
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    EXPECT_THAT(permit.warning, HasSubstr(reason));
    const auto statistics = cache.statistics();
    ASSERT_FALSE(statistics.has_value());
    EXPECT_THAT(statistics.error().message, HasSubstr(reason));
  }

  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }
};

TEST_F(KeyedStoreFolderTest, IsCreatedForThisUserAlone) {
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_EQ(mode_of(root().parent_path()), 0700U);
  EXPECT_EQ(mode_of(root()), 0700U);
  EXPECT_EQ(mode_of(programs()), 0700U);
  EXPECT_EQ(mode_of(entry_path("x")), 0600U);
}

TEST_F(KeyedStoreFolderTest, IsTaggedForBackups) {
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_THAT(contents(root() / "CACHEDIR.TAG"),
              ::testing::StartsWith("Signature: 8a477f597d28d172789f06886806bc55\n"));
}

TEST_F(KeyedStoreFolderTest, IsNotTaggedWhereSomebodyKeepsOtherThings) {
  std::filesystem::create_directories(root());
  write(root() / "thesis.tex", "x");
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
  EXPECT_FALSE(std::filesystem::exists(root() / "CACHEDIR.TAG"));
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereAFileIsInItsPlace) {
  std::filesystem::create_directories(root().parent_path());
  write(root(), "a file");
  expect_refused("Not a directory");
  EXPECT_EQ(contents(root()), "a file");
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereAFileIsInThePlaceOfItsParent) {
  write(root().parent_path(), "a file");
  expect_refused("Not a directory");
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereOthersMayWrite) {
  for (const mode_t mode : {0777U, 0770U, 0707U, 01777U}) {
    std::filesystem::create_directories(root());
    ASSERT_EQ(::chmod(root().c_str(), mode), 0);
    expect_refused(fmt::format("other users may write to it (mode {:04o})", mode));
  }
  EXPECT_FALSE(std::filesystem::exists(programs()));
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereOthersMayWriteToAPartOfIt) {
  (void)store(user_cache(), "x");
  (void)Quarantine(settings()).begin({}, {});
  ASSERT_EQ(::chmod(programs().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((root() / "attempts").c_str(), 0777), 0);
  expect_refused("other users may write to it (mode 0777)");
}

TEST_F(KeyedStoreFolderTest, IsTakenWhereOthersMayOnlyRead) {
  std::filesystem::create_directories(root());
  ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreFolderTest, MayBeALinkToAFolderOfTheSameUser) {
  std::filesystem::create_directories(outside() / "elsewhere");
  ASSERT_EQ(::chmod((outside() / "elsewhere").c_str(), 0700), 0);
  std::filesystem::create_directories(root().parent_path());
  std::filesystem::create_directory_symlink(outside() / "elsewhere", root());
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
  EXPECT_TRUE(std::filesystem::exists(outside() / "elsewhere" / "programs"));
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereItBelongsToAnotherUser) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can change the owner of a folder";
  }
  std::filesystem::create_directories(root());
  ASSERT_EQ(::chmod(root().c_str(), 0700), 0);
  ASSERT_EQ(::chown(root().c_str(), k_other_user, k_other_user), 0);
  expect_refused("it belongs to another user (uid 65534)");
}

TEST_F(KeyedStoreFolderTest, IsRefusedWhereItIsALinkToAnotherUsersFolder) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can change the owner of a folder";
  }
  std::filesystem::create_directories(outside() / "theirs" / "programs");
  ASSERT_EQ(::chown((outside() / "theirs").c_str(), k_other_user, k_other_user), 0);
  std::filesystem::create_directories(root().parent_path());
  std::filesystem::create_directory_symlink(outside() / "theirs", root());
  expect_refused("it belongs to another user (uid 65534)");
  EXPECT_TRUE(std::filesystem::is_empty(outside() / "theirs" / "programs"));
}

TEST_F(KeyedStoreFolderTest, RefusesALinkInThePlaceOfAPart) {
  std::filesystem::create_directories(root());
  std::filesystem::create_directories(outside() / "elsewhere");
  for (const char* part : {"programs", "attempts"}) {
    std::filesystem::create_directory_symlink(outside() / "elsewhere", root() / part);
  }
  ASSERT_EQ(::chmod(root().c_str(), 0700), 0);
  expect_refused("cannot open the cache directory");
  EXPECT_TRUE(std::filesystem::is_empty(outside() / "elsewhere"));
}

TEST_F(KeyedStoreFolderTest, RemovesAnEntryThatAnotherUserPlanted) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can change the owner of a file";
  }
  (void)store(user_cache(), "x");
  ASSERT_EQ(::chown(entry_path("x").c_str(), k_other_user, k_other_user), 0);
  EXPECT_THAT(look_up(user_cache(), "x").reason, HasSubstr("it belongs to another user"));
  EXPECT_FALSE(std::filesystem::exists(entry_path("x")));
}

TEST_F(KeyedStoreFolderTest, RemovesAnEntryThatOthersMayWriteTo) {
  (void)store(user_cache(), "x");
  ASSERT_EQ(::chmod(entry_path("x").c_str(), 0666), 0);
  EXPECT_THAT(look_up(user_cache(), "x").reason, HasSubstr("other users may write to it"));
  EXPECT_FALSE(std::filesystem::exists(entry_path("x")));
}

TEST_F(KeyedStoreFolderTest, FollowsNoLinkInThePlaceOfAnEntry) {
  (void)store(user_cache(), "x");
  std::filesystem::rename(entry_path("x"), outside() / "moved");
  std::filesystem::create_symlink(outside() / "moved", entry_path("x"));
  const LookUp found = look_up(user_cache(), "x");
  EXPECT_FALSE(found.hit.has_value());
  EXPECT_EQ(found.cause, MissCause::damaged);
  EXPECT_EQ(found.warning, "");
  EXPECT_THAT(found.reason, HasSubstr("not a regular file"));
  EXPECT_FALSE(std::filesystem::is_symlink(entry_path("x"))) << "it is removed";
  EXPECT_TRUE(std::filesystem::exists(outside() / "moved"));
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreFolderTest, RemovesASocketInThePlaceOfAnEntry) {
  (void)store(user_cache(), "x");
  std::filesystem::remove(entry_path("x"));
  ASSERT_EQ(::mknod(entry_path("x").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(look_up(user_cache(), "x").cause, MissCause::damaged);
  EXPECT_FALSE(std::filesystem::exists(entry_path("x")));
}

TEST_F(KeyedStoreFolderTest, ReplacesWhatIsInThePlaceOfAFileThatItLocks) {
  (void)store(user_cache(), "x");
  const auto counters = programs() / "counters";
  const auto lock = programs() / (base::to_hex(recipe_key(recipe_of("y"))) + ".lock");
  const auto marker =
      root() / "attempts" / (base::to_hex(base::Digest()) + "-" + base::to_hex(base::Digest()));
  (void)Quarantine(settings()).begin({}, {});
  ASSERT_TRUE(std::filesystem::exists(counters));
  ASSERT_TRUE(std::filesystem::exists(marker));
  const std::vector<std::function<void(const std::filesystem::path&)>> plants{
      [](const auto& path) { std::filesystem::create_symlink("nothing", path); },
      [](const auto& path) { std::filesystem::create_directory(path); },
      [](const auto& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
      [](const auto& path) { ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0); }};
  for (std::size_t plant = 0; plant < plants.size(); ++plant) {
    SCOPED_TRACE(plant);
    for (const auto& path : {counters, lock, marker}) {
      std::filesystem::remove(path);
      plants[plant](path);
    }
    EXPECT_TRUE(is_hit(user_cache(), "x"));
    EXPECT_EQ(statistics_of(user_cache()).counters.hits, 1U) << "counted anew";
    EXPECT_EQ(user_cache().claim_build(recipe_key(recipe_of("y"))).turn, Turn::build);
    EXPECT_EQ(Quarantine(settings()).begin({}, {}).warning, "");
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(marker)));
  }
}

TEST_F(KeyedStoreFolderTest, WaitsForNoPipeInThePlaceOfAFile) {
  (void)store(user_cache(), "x");
  std::filesystem::remove(entry_path("x"));
  ASSERT_EQ(::mkfifo(entry_path("x").c_str(), 0600), 0);
  EXPECT_THAT(look_up(user_cache(), "x").reason, HasSubstr("not a regular file"));
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreFolderTest, RemovesAnEmptyFolderInThePlaceOfAnEntry) {
  (void)store(user_cache(), "x");
  std::filesystem::remove(entry_path("x"));
  std::filesystem::create_directory(entry_path("x"));
  EXPECT_EQ(look_up(user_cache(), "x").cause, MissCause::damaged);
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_TRUE(is_hit(user_cache(), "x"));
}

TEST_F(KeyedStoreFolderTest, WarnsWhereAFullFolderIsInThePlaceOfAnEntry) {
  (void)store(user_cache(), "x");
  std::filesystem::remove(entry_path("x"));
  std::filesystem::create_directory(entry_path("x"));
  write(entry_path("x") / "file", "somebody's");
  EXPECT_FALSE(look_up(user_cache(), "x").hit.has_value());
  EXPECT_THAT(store(user_cache(), "x"), HasSubstr("Is a directory"));
  EXPECT_EQ(count_files(programs(), ".new"), 0U);
}

TEST_F(KeyedStoreFolderTest, MayVanishAtAnyTime) {
  const KeyedStore cache = user_cache();
  EXPECT_EQ(store(cache, "x"), "");
  std::filesystem::remove_all(root());
  EXPECT_EQ(look_up(cache, "x").reason, "not in the user cache");
  EXPECT_EQ(look_up(cache, "x").warning, "");
  std::filesystem::remove_all(root());
  EXPECT_EQ(store(cache, "x"), "");
  EXPECT_TRUE(is_hit(cache, "x"));
  const BuildClaim claim = cache.claim_build(recipe_key(recipe_of("y")));
  std::filesystem::remove_all(root());
  EXPECT_EQ(store(cache, "y"), "");
  EXPECT_TRUE(is_hit(cache, "y"));
}

// Permissions do not apply to root.
TEST_F(KeyedStoreFolderTest, IsStillReadWhereItCannotBeWrittenTo) {
  (void)store(user_cache(), "x");
  (void)Quarantine(settings()).begin({}, {});
  const auto body = [this] {
    if (geteuid() == 0 && (setgid(k_other_user) != 0 || setuid(k_other_user) != 0)) {
      return 2;
    }
    EXPECT_TRUE(is_hit(user_cache(), "x"));
    EXPECT_EQ(look_up(user_cache(), "x").warning, "");
    EXPECT_THAT(store(user_cache(), "y"), HasSubstr("Permission denied"));
    const BuildClaim claim = user_cache().claim_build(recipe_key(recipe_of("y")));
    EXPECT_EQ(claim.turn, Turn::build_alone);
    EXPECT_THAT(claim.warning, HasSubstr("Permission denied"));
    const AttemptPermit permit = Quarantine(settings()).begin({}, {});
    EXPECT_EQ(permit.verdict, AttemptVerdict::go);
    EXPECT_THAT(permit.warning, HasSubstr("Permission denied"));
    EXPECT_FALSE(user_cache().clear().has_value());
    EXPECT_TRUE(is_hit(user_cache(), "x"));
    return 0;
  };
  for (const auto& item : std::filesystem::recursive_directory_iterator(outside())) {
    ASSERT_EQ(geteuid() == 0 ? ::chown(item.path().c_str(), k_other_user, k_other_user) : 0, 0);
    if (!item.is_directory()) {
      ASSERT_EQ(::chmod(item.path().c_str(), 0400), 0);
    }
  }
  for (const auto& folder : {programs(), root() / "attempts", root()}) {
    ASSERT_EQ(::chmod(folder.c_str(), 0500), 0);
  }
  ASSERT_EQ(::chmod(outside().c_str(), 0755), 0);
  EXPECT_EQ(test::run_in_child(body).exit_code, 0);
  for (const auto& folder : {root(), programs(), root() / "attempts"}) {
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0); // otherwise it could not be removed
  }
}

} // namespace
} // namespace clbin::cache
