#include "worker/worker_main.hpp"

#include "base/file_io.hpp"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace oclcc::worker {
namespace {

class TemporaryNames : public ::testing::Test {
protected:
  void SetUp() override {
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
    reset_temporary_names();
  }

  // Returns the name of the created file, without the folder.
  std::string made(const std::string& pattern, int suffix_length) {
    std::string name = (m_folder->path() / pattern).string();
    const int file = ::mkostemps(name.data(), suffix_length, O_CLOEXEC);
    EXPECT_GE(file, 0) << name;
    EXPECT_NE(::fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
    ::close(file);
    return std::filesystem::path(name).filename().string();
  }

  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(TemporaryNames, AreCounted) {
  EXPECT_EQ(made("tempfile_XXXXXX.cl", 3), "tempfile_000000.cl");
  EXPECT_EQ(made("tempfile_XXXXXX.cl", 3), "tempfile_000001.cl");
  EXPECT_EQ(made("otherXXXXXX", 0), "other000002");
}

TEST_F(TemporaryNames, StartAgainAfterAReset) {
  EXPECT_EQ(made("aXXXXXX", 0), "a000000");
  reset_temporary_names();
  EXPECT_EQ(made("bXXXXXX", 0), "b000000");
}

TEST_F(TemporaryNames, NeverOpenWhatIsThere) {
  const auto taken = m_folder->path() / "a000000";
  std::ofstream(taken) << "precious";
  std::filesystem::create_symlink("/etc/passwd", m_folder->path() / "a000001");
  EXPECT_EQ(made("aXXXXXX", 0), "a000002");
  std::ifstream file(taken);
  std::string text;
  file >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(TemporaryNames, AreReadableByTheirOwnerOnly) {
  std::string name = (m_folder->path() / "aXXXXXX").string();
  const int file = ::mkstemp(name.data());
  ASSERT_GE(file, 0);
  struct stat facts {};
  ASSERT_EQ(::fstat(file, &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  ::close(file);
}

TEST_F(TemporaryNames, RefuseAPatternWithoutSixX) {
  for (const char* pattern : {"", "XXXXX", "aXXXXXb", "XXXXXXab"}) {
    std::string name = pattern;
    errno = 0;
    EXPECT_EQ(::mkstemp(name.data()), -1) << pattern;
    EXPECT_EQ(errno, EINVAL) << pattern;
  }
  std::string name = "XXXXXX";
  EXPECT_EQ(::mkostemps(name.data(), 7, 0), -1);
  EXPECT_EQ(::mkostemps(name.data(), -1, 0), -1);
}

TEST_F(TemporaryNames, TellWhyAFileCannotBeMade) {
  std::string name = (m_folder->path() / "missing" / "aXXXXXX").string();
  EXPECT_EQ(::mkstemp(name.data()), -1);
  EXPECT_EQ(errno, ENOENT);
}

// Drivers' libraries must find the executable's function before libc's.
TEST_F(TemporaryNames, AreWhatSharedLibrariesFind) {
  using Mkostemps = int (*)(char*, int, int);
  for (const char* function : {"mkostemps", "mkostemps64"}) {
    auto* const found = reinterpret_cast<Mkostemps>(::dlsym(RTLD_DEFAULT, function));
    ASSERT_NE(found, nullptr);
    reset_temporary_names();
    std::string name = (m_folder->path() / function).string() + "XXXXXX";
    const int file = found(name.data(), 0, 0);
    ASSERT_GE(file, 0);
    ::close(file);
    EXPECT_TRUE(name.ends_with("000000")) << name;
  }
}

} // namespace
} // namespace oclcc::worker
