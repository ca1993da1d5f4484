#include "base/file_io.hpp"
#include "base/system/posix/calls.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clbin::base {
namespace {

const Bytes k_bytes(3);

// Runs `step` in a process with the default handling of signals. Returns its status for waitpid.
int status_of_child(const std::function<bool()>& step) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr rlimit k_no_core{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &k_no_core);
    (void)std::signal(SIGPIPE, SIG_DFL);
    (void)std::signal(SIGXFSZ, SIG_DFL);
    ::_exit(step() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

// The end of a pipe without a reader.
int closed_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return -1;
  }
  ::close(ends[0]);
  return ends[1];
}

// A file of the largest size that the process may write.
int full_file() {
  const auto folder = TemporaryFolder::create({}, "file-descriptor-").value();
  const int file = open_retrying((folder.path() / "full").c_str(), O_WRONLY | O_CREAT, 0600);
  const rlimit limit{1, 1};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? file : -1;
}

bool is_pending(int signal) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

bool is_blocked(int signal) {
  sigset_t mask;
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && ::sigismember(&mask, signal) == 1;
}

struct Case {
  int (*open)();
  int signal;
  int error;
};
constexpr std::array<Case, 2> k_cases{{{closed_pipe, SIGPIPE, EPIPE}, {full_file, SIGXFSZ, EFBIG}}};

TEST(WriteAll, EndsAProcessThatDoesNotExpectItsSignals) {
  for (const Case& known : k_cases) {
    const int status = status_of_child([&] { return write_all(known.open(), k_bytes) == -1; });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), known.signal);
  }
}

TEST(WriteAllWithoutSignals, ReturnsErrorsAndChangesNothing) {
  for (const Case& known : k_cases) {
    EXPECT_EQ(status_of_child([&] {
                const int file = known.open();
                for (int i = 0; i < 3; ++i) {
                  if (write_all_without_signals(file, k_bytes) != known.error) {
                    return false;
                  }
                }
                struct sigaction action {};
                return ::sigaction(known.signal, nullptr, &action) == 0 &&
                       action.sa_handler == SIG_DFL && !is_pending(known.signal) &&
                       !is_blocked(known.signal);
              }),
              0)
        << known.signal;
  }
}

// A signal that was pending before is the application's.
TEST(WriteAllWithoutSignals, LeavesASignalThatIsPending) {
  for (const Case& known : k_cases) {
    EXPECT_EQ(status_of_child([&] {
                sigset_t one;
                ::sigemptyset(&one);
                ::sigaddset(&one, known.signal);
                ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
                (void)::raise(known.signal);
                return write_all_without_signals(known.open(), k_bytes) == known.error &&
                       is_pending(known.signal) && is_blocked(known.signal);
              }),
              0)
        << known.signal;
  }
}

TEST(WriteAllWithoutSignals, CallsNoHandler) {
  for (const Case& known : k_cases) {
    for (void (*const handler)(int) : {SIG_IGN, +[](int) { ::_exit(9); }}) {
      EXPECT_EQ(status_of_child([&] {
                  (void)std::signal(known.signal, handler);
                  return write_all_without_signals(known.open(), k_bytes) == known.error &&
                         !is_pending(known.signal);
                }),
                0)
          << known.signal;
    }
  }
}

TEST(WriteAllWithoutSignals, WritesLikeWriteAll) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(write_all_without_signals(ends[1], k_bytes), 0);
  std::array<char, 8> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 3);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(write_all_without_signals(-1, k_bytes), EBADF);
}

} // namespace
} // namespace clbin::base
