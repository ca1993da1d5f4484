#include "targets/tools.hpp"

#include "base/file_io.hpp"
#include "support/sample_elf.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

namespace fs = std::filesystem;
using clbin::test::elf_bytes;

// Creates programs that exist only in this test.
class Tools : public ::testing::Test {
protected:
  void SetUp() override {
    m_path = std::getenv("PATH");
    ::setenv("PATH", m_folder.path().c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", m_path.c_str(), 1); }

  fs::path install(const std::string& name, const std::string& text = "#!/bin/sh\n") {
    const fs::path file = m_folder.path() / name;
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  // Remembers nothing.
  static ToolDigests forgetful() {
    return ToolDigests(ContentDigests(clbin::cache::CacheSettings()));
  }

  std::vector<ToolRow> m_rows = {
      {{{"clang", "clang-2", "clang-2"}, {"link", "link-2", "linker"}}, "12"},
      {{{"clang", "clang-1", "clang-1"}, {"link", "link-1", "linker-1"}}, "13"}};
  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
  std::string m_path;
};

TEST_F(Tools, AreThoseOfTheFirstCompleteRow) {
  install("clang-2");
  install("clang-1");
  const fs::path link = install("link-1");
  const auto found = find_tools("t", m_rows, {}, "12");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->at("clang"), m_folder.path() / "clang-1");
  EXPECT_EQ(found->at("link"), link);
}

TEST_F(Tools, NamesThePackagesThatAreMissing) {
  install("clang-2");
  const auto one = find_tools("spirv:1.2", m_rows, {}, "12");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, clbin::base::ErrorCode::no_device);
  EXPECT_EQ(one.error().message,
            "'spirv:1.2' needs programs that are not installed; install Debian's package linker");
  fs::remove(m_folder.path() / "clang-2");
  EXPECT_EQ(find_tools("spirv:1.2", m_rows, {}, "12").error().message,
            "'spirv:1.2' needs programs that are not installed; install Debian's packages clang-2 "
            "linker");
}

TEST_F(Tools, NamesThePackagesOfTheDistributionAtHand) {
  const auto message = [&](std::string_view debian) {
    return find_tools("spirv:1.2", m_rows, {}, debian).error().message;
  };
  EXPECT_EQ(message("13"), "'spirv:1.2' needs programs that are not installed; install Debian's "
                           "packages clang-1 linker-1");
  EXPECT_EQ(message("14"), "'spirv:1.2' needs programs that are not installed: clang-2 link-2");
  EXPECT_EQ(message(""), "'spirv:1.2' needs programs that are not installed: clang-2 link-2");
  install("clang-1");
  EXPECT_THAT(missing_tools(m_rows, {}, "13").packages, ::testing::ElementsAre("linker-1"));
  EXPECT_THAT(missing_tools(m_rows, {}, "").packages, ::testing::IsEmpty());
  EXPECT_THAT(missing_tools(m_rows, {}, "").files, ::testing::ElementsAre("clang-2", "link-2"));
  install("link-1");
  EXPECT_TRUE(missing_tools(m_rows, {}, "12").is_empty());
}

TEST_F(Tools, OfSeveralTargetsAreNamedAtOnce) {
  const auto required = [&](const std::vector<TargetTools>& targets) {
    return require_tools(targets, {}, "12").error().message;
  };
  const std::vector<ToolRow> assembler = {
      {{{"clang", "clang-2", "clang-2"}, {"ptxas", "ptxas", "cuda"}}, "12"}};
  std::vector<TargetTools> targets = {{"spirv:1.2", m_rows}, {"a", assembler}, {"b", assembler}};
  EXPECT_EQ(required(targets), "'spirv:1.2' and 2 more targets need programs that are not "
                               "installed; install Debian's packages clang-2 linker cuda");
  targets[2].rows.front().tools[1].package = "";
  EXPECT_EQ(required(targets), "'spirv:1.2' and 1 more target need programs that are not "
                               "installed; install Debian's packages clang-2 linker cuda; 'b' "
                               "needs programs that are not installed: clang-2 ptxas");
  install("clang-2");
  install("link-2");
  install("ptxas");
  EXPECT_TRUE(require_tools(targets, {}, "12"));
  EXPECT_EQ(require_tools(targets, {{"ptxas", "/missing"}}, "12").error().code,
            clbin::base::ErrorCode::file_not_found);
}

TEST(DebianRelease, IsThatOfDebianItself) {
  EXPECT_EQ(debian_release_in("PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nNAME=\"Debian "
                              "GNU/Linux\"\nVERSION_ID=\"13\"\nID=debian\n"),
            "13");
  EXPECT_EQ(debian_release_in("ID=\"debian\"\r\nVERSION_ID=12"), "12");
  EXPECT_EQ(debian_release_in("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n"), "");
  EXPECT_EQ(debian_release_in("PRETTY_NAME=\"Debian GNU/Linux sid\"\nID=debian\n"), "");
  EXPECT_EQ(debian_release_in("ID=fedora\nVERSION_ID=42\n"), "");
  EXPECT_EQ(debian_release_in(""), "");
}

// Debian 12's ptxas is older than the tested ones.
TEST_F(Tools, AreNamedIfTheDistributionHasNoPackageOfOne) {
  m_rows.front().tools.push_back({"ptxas", "ptxas", ""});
  EXPECT_EQ(find_tools("cubin:sm_90", m_rows, {}, "12").error().message,
            "'cubin:sm_90' needs programs that are not installed: clang-2 link-2 ptxas");
  install("ptxas");
  EXPECT_EQ(find_tools("cubin:sm_90", m_rows, {}, "12").error().message,
            "'cubin:sm_90' needs programs that are not installed; install Debian's packages "
            "clang-2 linker");
}

TEST_F(Tools, GivenByNameAreSearchedForInPath) {
  const fs::path clang = install("clang-7");
  install("link-2");
  const auto found = find_tools("t", m_rows, {{"clang", "clang-7"}}, "12");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->at("clang"), clang);
  const auto missing = find_tools("t", m_rows, {{"clang", "clang-8"}}, "12");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, clbin::base::ErrorCode::file_not_found);
  EXPECT_EQ(missing.error().message,
            "'--tool clang=clang-8': there is no such file, also not in PATH");
}

TEST_F(Tools, AreThoseThatAreGiven) {
  install("clang-2");
  install("link-2");
  const fs::path own = install("my-clang");
  const auto found = find_tools("t", m_rows, {{"clang", own}}, "12");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->at("clang"), own);
  EXPECT_EQ(found->at("link"), m_folder.path() / "link-2");
}

TEST_F(Tools, MustExistIfTheyAreGiven) {
  const auto found = find_tools("t", m_rows, {{"clang", "/nonexistent/clang"}}, "12");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, clbin::base::ErrorCode::file_not_found);
  EXPECT_EQ(found.error().message, "'--tool clang=/nonexistent/clang': there is no such file");
}

TEST_F(Tools, ChangeTheCacheKeyIfTheyChange) {
  const fs::path clang = install("clang-2", "#!/bin/sh\n");
  const fs::path link = install("link-2");
  const ToolPaths tools = {{"clang", clang}, {"link", link}};
  const auto before = forgetful().ingredients_of(tools);
  ASSERT_TRUE(before);
  EXPECT_EQ(*forgetful().ingredients_of(tools), *before);
  install("clang-2", "#!/bin/zh\n"); // with the same size
  const auto after = forgetful().ingredients_of(tools);
  ASSERT_TRUE(after);
  EXPECT_NE((*after)[0], (*before)[0]);
  EXPECT_EQ((*after)[1], (*before)[1]);
}

TEST_F(Tools, KeepTheCacheKeyIfTheyMove) {
  const auto one = forgetful().ingredients_of({{"clang", install("one", "same")}});
  const auto other = forgetful().ingredients_of({{"clang", install("other", "same")}});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(*one, *other);
}

TEST_F(Tools, ChangeTheCacheKeyIfTheLibrariesOfLlvmChange) {
  fs::create_directories(m_folder.path() / "llvm/bin");
  fs::create_directories(m_folder.path() / "llvm/lib");
  const ToolPaths tools = {{"clang", install("llvm/bin/clang")}};
  install("llvm/lib/libLLVM-15.so.1", "old");
  const auto before = forgetful().ingredients_of(tools);
  install("llvm/lib/libLLVM-15.so.1", "changed");
  const auto after = forgetful().ingredients_of(tools);
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
}

TEST_F(Tools, ChangeTheCacheKeyIfTheLibrariesOfIntelsCompilerChange) {
  fs::create_directories(m_folder.path() / "usr/bin");
  fs::create_directories(m_folder.path() / "usr/lib/x86_64-linux-gnu");
  const ToolPaths tools = {{"ocloc", install("usr/bin/ocloc")}};
  install("usr/lib/x86_64-linux-gnu/libigc.so.1", "old");
  const auto before = forgetful().ingredients_of(tools);
  install("usr/lib/x86_64-linux-gnu/libigc.so.1", "changed");
  const auto after = forgetful().ingredients_of(tools);
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
}

TEST_F(Tools, ChangeTheCacheKeyOnlyIfALibraryChangesThatTheyLoad) {
  fs::create_directories(m_folder.path() / "llvm/bin");
  fs::create_directories(m_folder.path() / "llvm/lib");
  const auto elf = [](const std::string& name, const std::vector<std::string>& needed,
                      const std::string& build_id) {
    return elf_bytes({name, needed, build_id});
  };
  const ToolPaths tools = {
      {"clang", install("llvm/bin/clang", elf("", {"libclang-cpp.so.15", "libc.so.6"}, "1"))}};
  install("llvm/lib/libclang-cpp.so.15", elf("libclang-cpp.so.15", {"libLLVM-15.so.1"}, "2"));
  const auto keys = [&] {
    ContentDigests digests{clbin::cache::CacheSettings()};
    return std::pair(*forgetful().ingredients_of(tools), shared_ingredients_of(tools, digests));
  };
  EXPECT_FALSE(keys().second) << "libLLVM-15 is missing";
  install("llvm/lib/libLLVM-15.so.1", elf("libLLVM-15.so.1", {}, "3"));
  const auto first = keys();
  ASSERT_TRUE(first.second);
  install("llvm/lib/libLLVM-19.so.1", elf("libLLVM-19.so.1", {}, "4"));
  EXPECT_EQ(keys(), first);
  install("llvm/lib/libLLVM-15.so.1", elf("libLLVM-15.so.1", {}, "changed"));
  EXPECT_NE(keys().first, first.first);
  EXPECT_NE(keys().second, first.second);
}

TEST_F(Tools, LoadLibrariesFromTheFoldersOfTheEnvironmentFirst) {
  fs::create_directories(m_folder.path() / "llvm/bin");
  fs::create_directories(m_folder.path() / "llvm/lib");
  fs::create_directories(m_folder.path() / "own");
  const ToolPaths tools = {
      {"clang", install("llvm/bin/clang", elf_bytes({"", {"libLLVM-15.so.1"}, "1"}))}};
  install("llvm/lib/libLLVM-15.so.1", elf_bytes({"libLLVM-15.so.1", {}, "2"}));
  install("own/libLLVM-15.so.1", elf_bytes({"libLLVM-15.so.1", {}, "3"}));
  ContentDigests digests{clbin::cache::CacheSettings()};
  const auto before = shared_ingredients_of(tools, digests);
  ::setenv("LD_LIBRARY_PATH", (m_folder.path() / "own").c_str(), 1);
  const auto after = shared_ingredients_of(tools, digests);
  ::unsetenv("LD_LIBRARY_PATH");
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
}

TEST_F(Tools, MayBeFoldersOfLibraries) {
  fs::create_directories(m_folder.path() / "libraries");
  install("libraries/ocml.bc", "old");
  const ToolPaths tools = {{"device-libs", m_folder.path() / "libraries"}};
  const auto before = forgetful().ingredients_of(tools);
  install("libraries/ocml.bc", "new");
  const auto after = forgetful().ingredients_of(tools);
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
}

} // namespace
} // namespace oclcc::offline
