// Kills a process while its output replaces the old file. This executable's linkat, rename and fork
// take precedence over those of the C library.
#include "base/file_io.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

enum class Moment { never, before_link, between, after_rename };
struct Plan {
  Moment moment = Moment::never;
  pid_t victim = 0; // negative: a process group
  bool fork_fails = false;
  std::size_t forks = 0;
};

Plan& plan() {
  static Plan instance;
  return instance;
}

void reach(Moment moment) {
  if (plan().moment == moment) {
    (void)::kill(plan().victim, SIGKILL);
  }
}

} // namespace

extern "C" {

int linkat(int old_folder, const char* old_name, int new_folder, const char* new_name,
           int flags) noexcept {
  reach(Moment::before_link);
  const long result = syscall(SYS_linkat, old_folder, old_name, new_folder, new_name, flags);
  reach(Moment::between);
  return static_cast<int>(result);
}

int rename(const char* old_name, const char* new_name) noexcept {
  const long result = syscall(SYS_renameat, AT_FDCWD, old_name, AT_FDCWD, new_name);
  reach(Moment::after_rename);
  return static_cast<int>(result);
}

pid_t fork() noexcept {
  ++plan().forks;
  if (plan().fork_fails) {
    errno = EAGAIN;
    return -1;
  }
  return _Fork();
}
}

namespace clbin::base {
namespace {

using ::testing::ElementsAre;

class OutputFileKilled : public ::testing::Test {
protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create({}, "clbin-test-");
    ASSERT_TRUE(folder);
    m_folder = std::make_unique<TemporaryFolder>(std::move(*folder));
    m_file = m_folder->path() / "out";
    std::ofstream(m_file) << "old";
    const int nameless = ::open(m_folder->path().c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (nameless < 0) {
      GTEST_SKIP() << "this file system has no unnamed files (O_TMPFILE)";
    }
    ::close(nameless);
  }

  // A process writes "new" and is killed at `moment`, with its process group for Victim::group.
  enum class Victim { process, group };
  void write_and_kill(Moment moment, Victim victim) const {
    const pid_t writer = ::_Fork();
    if (writer == 0) {
      ::setpgid(0, 0);
      plan() = {moment, victim == Victim::group ? -::getpid() : ::getpid()};
      (void)write_output_file(m_file, as_bytes(std::string_view("new")));
      ::pause();
    }
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

  [[nodiscard]] std::string content() const {
    std::ifstream file(m_file);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder->path())) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  void wait_for_new() const {
    for (int attempt = 0; attempt < 2000 && content() != "new"; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(content(), "new");
    EXPECT_THAT(names(), ElementsAre("out"));
  }

  std::unique_ptr<TemporaryFolder> m_folder;
  std::filesystem::path m_file;
};

TEST_F(OutputFileKilled, LeavesTheNewFileAloneFromTheFirstNameOn) {
  for (const Moment moment : {Moment::before_link, Moment::between, Moment::after_rename}) {
    SCOPED_TRACE(static_cast<int>(moment));
    std::ofstream(m_file) << "old";
    write_and_kill(moment, Victim::process);
    wait_for_new();
  }
}

TEST_F(OutputFileKilled, WithItsWholeGroupLeavesTheNewFileAlone) {
  write_and_kill(Moment::between, Victim::group);
  wait_for_new();
}

TEST_F(OutputFileKilled, IsCompleteOrAbsentWhereThereWasNoFile) {
  std::filesystem::remove(m_file);
  write_and_kill(Moment::before_link, Victim::process);
  EXPECT_THAT(names(), ElementsAre());
  write_and_kill(Moment::between, Victim::process);
  wait_for_new();
}

TEST_F(OutputFileKilled, NeedsNoOtherProcessWhereThereWasNoFile) {
  std::filesystem::remove(m_file);
  plan().forks = 0;
  EXPECT_TRUE(write_output_file(m_file, as_bytes(std::string_view("new"))));
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(plan().forks, 0U);
  EXPECT_TRUE(write_output_file(m_file, as_bytes(std::string_view("newer"))));
  EXPECT_EQ(plan().forks, 1U);
}

TEST_F(OutputFileKilled, IsWrittenWhereNoProcessCanBeStarted) {
  plan().fork_fails = true;
  const auto written = write_output_file(m_file, as_bytes(std::string_view("new")));
  plan().fork_fails = false;
  EXPECT_TRUE(written);
  EXPECT_EQ(content(), "new");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(OutputFileKilled, IsWrittenWhereTheEndOfChildrenIsNotTold) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto written = write_output_file(m_file, as_bytes(std::string_view("new")));
  ::signal(SIGCHLD, before);
  EXPECT_TRUE(written);
  EXPECT_EQ(content(), "new");
}

TEST_F(OutputFileKilled, TellsWhyTheFileCouldNotBeMoved) {
  auto file = OutputFile::open(m_file);
  ASSERT_TRUE(file);
  std::filesystem::remove(m_file);
  std::filesystem::create_directory(m_file);
  const auto written = file->commit();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::file_write);
  EXPECT_EQ(written.error().message, "cannot write '" + m_file.string() + "': Is a directory");
  EXPECT_THAT(names(), ElementsAre("out"));
}

} // namespace
} // namespace clbin::base
