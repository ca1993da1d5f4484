#include "worker/worker_main.hpp"

#include "base/file_io.hpp"

#include <cerrno>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>

namespace oclcc::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class DirectoryOrder : public ::testing::Test {
protected:
  void SetUp() override {
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
    for (const char* name : {"16-16-1", "b", "0-0-0", "a", "16-16-1-goffs0"}) {
      std::ofstream(m_folder->path() / name) << name;
    }
    sort_directories();
  }

  static std::vector<std::string> names_in(DIR* folder) {
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder)) {
      names.emplace_back(entry->d_name);
    }
    return names;
  }

  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(DirectoryOrder, IsThatOfTheNames) {
  DIR* const folder = ::opendir(m_folder->path().c_str());
  ASSERT_NE(folder, nullptr);
  EXPECT_THAT(names_in(folder),
              ElementsAre(".", "..", "0-0-0", "16-16-1", "16-16-1-goffs0", "a", "b"));
  errno = 0;
  EXPECT_EQ(::readdir(folder), nullptr) << "the end stays the end";
  EXPECT_EQ(errno, 0);
  ::closedir(folder);
}

TEST_F(DirectoryOrder, IsReadAfreshAfterRewindingAndInTwoStreamsAtOnce) {
  DIR* const folder = ::opendir(m_folder->path().c_str());
  DIR* const second = ::opendir(m_folder->path().c_str());
  ASSERT_NE(folder, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_STREQ(::readdir(folder)->d_name, ".");
  EXPECT_STREQ(::readdir(second)->d_name, ".");
  std::ofstream(m_folder->path() / "c") << "c";
  ::rewinddir(folder);
  EXPECT_THAT(names_in(folder), SizeIs(8));
  EXPECT_STREQ(::readdir(second)->d_name, "..");
  ::closedir(folder);
  ::closedir(second);
}

TEST_F(DirectoryOrder, TellsTheKindOfAnEntry) {
  std::filesystem::create_directory(m_folder->path() / "0");
  DIR* const folder = ::opendir(m_folder->path().c_str());
  ASSERT_NE(folder, nullptr);
  ::readdir64(folder);
  ::readdir64(folder);
  const dirent64* const entry = ::readdir64(folder);
  ASSERT_NE(entry, nullptr);
  EXPECT_STREQ(entry->d_name, "0");
  EXPECT_EQ(entry->d_type, DT_DIR);
  ::closedir(folder);
}

// Libraries that are loaded at run time find the executable's function.
TEST_F(DirectoryOrder, IsWhatTheExecutableExports) {
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "readdir"), reinterpret_cast<void*>(&::readdir));
  Dl_info facts{};
  ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "readdir"), &facts), 0);
  EXPECT_EQ(std::string(facts.dli_fname).find("libc.so"), std::string::npos) << facts.dli_fname;
}

} // namespace
} // namespace oclcc::worker
