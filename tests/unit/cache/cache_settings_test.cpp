#include "cache/cache_settings.hpp"

#include "support/child_process.hpp"

#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

namespace clbin::cache {
namespace {

using Variables = std::map<std::string, std::string>;

ProcessEnvironment environment_of(const Variables& variables, Rights rights = Rights::plain) {
  return {[variables](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          },
          rights, [] { return std::filesystem::path("/home/effective"); }};
}

CacheSettings settings_of(const Variables& variables) {
  return CacheSettings::from_environment(environment_of(variables));
}

TEST(CacheSettings, TakeTheFirstFolderThatIsNamed) {
  const Variables all{
      {"CLBIN_CACHE_DIR", "/cache"}, {"XDG_CACHE_HOME", "/xdg"}, {"HOME", "/home/me"}};
  EXPECT_EQ(settings_of(all).folder, "/cache");
  EXPECT_EQ(settings_of({{"XDG_CACHE_HOME", "/xdg"}, {"HOME", "/home/me"}}).folder, "/xdg/clbin");
  EXPECT_EQ(settings_of({{"HOME", "/home/me"}}).folder, "/home/me/.cache/clbin");
}

TEST(CacheSettings, TakeAnEmptyVariableForNone) {
  const Variables empty{{"CLBIN_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", "/home/me"}};
  EXPECT_EQ(settings_of(empty).folder, "/home/me/.cache/clbin");
}

TEST(CacheSettings, IgnoreARelativeXdgFolderAsItsSpecificationAsks) {
  EXPECT_EQ(settings_of({{"XDG_CACHE_HOME", "caches"}, {"HOME", "/home/me"}}).folder,
            "/home/me/.cache/clbin");
}

TEST(CacheSettings, KeepARelativeFolderWhereItWasAtFirst) {
  EXPECT_EQ(settings_of({{"CLBIN_CACHE_DIR", "here"}}).folder,
            std::filesystem::current_path() / "here");
}

TEST(CacheSettings, AreOnWithHalfAGibibyteAndTenSeconds) {
  const CacheSettings settings = settings_of({{"HOME", "/home/me"}});
  EXPECT_EQ(settings.use, CacheUse::on);
  EXPECT_EQ(settings.max_bytes, 512U << 20U);
  EXPECT_EQ(settings.wait_limit, std::chrono::seconds(10));
  EXPECT_EQ(settings.warning, "");
}

TEST(CacheSettings, AreOffWithoutAWarningWhereTheUserSaysSo) {
  const CacheSettings settings = settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE", "0"}});
  EXPECT_EQ(settings.use, CacheUse::off);
  EXPECT_EQ(settings.why_off, "CLBIN_CACHE is 0");
  EXPECT_EQ(settings.warning, "");
  EXPECT_EQ(settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE", "1"}}).use, CacheUse::on);
}

TEST(CacheSettings, ServeOnPoclOnlyIfTheVariableIsOne) {
  EXPECT_EQ(settings_of({{"HOME", "/home/me"}}).on_pocl, CacheOnPocl::no);
  EXPECT_EQ(settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE_POCL", "0"}}).on_pocl,
            CacheOnPocl::no);
  EXPECT_EQ(settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE_POCL", "1"}}).on_pocl,
            CacheOnPocl::yes);
}

TEST(CacheSettings, KnowThatPoclHasACacheUnlessItsVariableIsZero) {
  EXPECT_EQ(settings_of({{"POCL_KERNEL_CACHE", "1"}}).of_pocl, PoclCache::on);
  EXPECT_EQ(settings_of({}).of_pocl, PoclCache::on);
  EXPECT_EQ(settings_of({{"POCL_KERNEL_CACHE", "0"}}).of_pocl, PoclCache::off);
}

TEST(CacheSettings, AreOffWithAWarningWhereThereIsNoHome) {
  for (const Variables& variables : {Variables{}, Variables{{"HOME", ""}}}) {
    const CacheSettings settings = settings_of(variables);
    EXPECT_EQ(settings.use, CacheUse::off);
    EXPECT_EQ(settings.warning, "the cache is not used: HOME is not set");
  }
}

TEST(CacheSettings, AreOffWithTheReasonWhereTheHomeIsRelative) {
  const CacheSettings settings = settings_of({{"HOME", "not/absolute"}});
  EXPECT_EQ(settings.use, CacheUse::off);
  EXPECT_EQ(settings.warning, "the cache is not used: HOME 'not/absolute' is not an absolute path");
  EXPECT_EQ(settings.why_off, "it has no folder: HOME 'not/absolute' is not an absolute path");
}

TEST(CacheSettings, NameTheEffectiveUserWhoHasNoHome) {
  ProcessEnvironment environment = environment_of({{"HOME", "/home/me"}}, Rights::elevated);
  environment.account_home = [] { return std::filesystem::path(); };
  EXPECT_EQ(CacheSettings::from_environment(environment).warning,
            "the cache is not used: the home directory of the effective user is not set");
}

TEST(CacheSettings, AreOffWithTheReasonWhereTheWorkingDirectoryIsGone) {
  const auto end = test::run_in_child([] {
    const std::string folder = ::testing::TempDir() + "gone-" + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
    std::filesystem::remove(folder);
    EXPECT_EQ(settings_of({{"CLBIN_CACHE_DIR", "here"}, {"HOME", "/home/me"}}).warning,
              "the cache is not used: CLBIN_CACHE_DIR 'here' is relative, and the working "
              "directory no longer exists");
    return 0;
  });
  EXPECT_EQ(end.exit_code, 0);
}

TEST(CacheSettings, ReadSizesWithTheirUnits) {
  const auto max_bytes = [](const char* size) {
    return settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE_MAX_SIZE", size}}).max_bytes;
  };
  EXPECT_EQ(max_bytes("0"), 0U);
  EXPECT_EQ(max_bytes("1234567"), 1234567U);
  EXPECT_EQ(max_bytes("3K"), 3U << 10U);
  EXPECT_EQ(max_bytes("100M"), 100U << 20U);
  EXPECT_EQ(max_bytes("5G"), 5ULL << 30U);
  EXPECT_EQ(max_bytes("2T"), 2ULL << 40U);
}

TEST(CacheSettings, KeepTheDefaultAndWarnOfASizeThatIsNone) {
  for (const char* size :
       {"big", "-1", "1.5G", "10MB", "K", "99999999999999999999", "99999999999T", "1 M", "0x10"}) {
    const CacheSettings settings =
        settings_of({{"HOME", "/home/me"}, {"CLBIN_CACHE_MAX_SIZE", size}});
    EXPECT_EQ(settings.use, CacheUse::on);
    EXPECT_EQ(settings.max_bytes, CacheSettings::k_default_max_bytes) << size;
    EXPECT_EQ(settings.warning,
              "CLBIN_CACHE_MAX_SIZE '" + std::string(size) + "' is not a size such as 512M");
  }
}

TEST(CacheSettings, KnowTheSizeAlsoIfTheCallerChoosesTheFolderOrTheUse) {
  EXPECT_EQ(settings_of({{"CLBIN_CACHE_MAX_SIZE", "7"}}).max_bytes, 7U);
  EXPECT_EQ(settings_of({{"CLBIN_CACHE", "0"}, {"CLBIN_CACHE_MAX_SIZE", "7"}}).max_bytes, 7U);
}

TEST(CacheSettings, OfAnElevatedProcessIgnoreTheEnvironment) {
  const Variables planted{{"CLBIN_CACHE", "0"},
                          {"CLBIN_CACHE_DIR", "/evil"},
                          {"XDG_CACHE_HOME", "/evil"},
                          {"HOME", "/evil"},
                          {"CLBIN_CACHE_MAX_SIZE", "1"}};
  const CacheSettings settings =
      CacheSettings::from_environment(environment_of(planted, Rights::elevated));
  EXPECT_EQ(settings.use, CacheUse::on);
  EXPECT_EQ(settings.folder, "/home/effective/.cache/clbin");
  EXPECT_EQ(settings.max_bytes, CacheSettings::k_default_max_bytes);
  EXPECT_EQ(settings.warning, "");
}

TEST(CacheSettings, KnowAnElevatedProcess) {
  EXPECT_EQ(this_process().rights, Rights::plain);
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give itself another real user";
  }
  const auto rights_of_child = [] {
    if (setreuid(65534, static_cast<uid_t>(-1)) != 0) {
      return 2;
    }
    return this_process().rights == Rights::elevated ? 0 : 1;
  };
  EXPECT_EQ(test::run_in_child(rights_of_child).exit_code, 0);
}

} // namespace
} // namespace clbin::cache
