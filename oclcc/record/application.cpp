#include "record/application.hpp"

#include "base/file_io.hpp"
#include "worker/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::FileDescriptor;
using clbin::base::Result;

namespace {

constexpr std::array k_passed_on = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Blocks the signals until its end, so that they can be waited for.
class BlockedSignals {
public:
  BlockedSignals() {
    sigemptyset(&m_signals);
    for (const int signal : k_passed_on) {
      sigaddset(&m_signals, signal);
    }
    sigaddset(&m_signals, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &m_signals, &m_before);
  }
  ~BlockedSignals() { (void)sigprocmask(SIG_SETMASK, &m_before, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // Returns the next signal; std::nullopt after a while.
  [[nodiscard]] std::optional<siginfo_t> next() const {
    const timespec a_while{1, 0}; // SIGCHLD is not certain to stay pending on every system
    siginfo_t signal{};
    return sigtimedwait(&m_signals, &signal, &a_while) > 0 ? std::optional(signal) : std::nullopt;
  }
  [[nodiscard]] const sigset_t& before() const noexcept { return m_before; }

private:
  sigset_t m_signals{};
  sigset_t m_before{};
};

// In the new process. Reports an errno to `report`, which is closed by a successful exec.
[[noreturn]] void execute(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& variables,
                          const sigset_t& signals, int report) {
  for (const auto& [name, value] : variables) {
    (void)::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> words = command;
  const std::vector<char*> pointers = worker::pointers_to(words);
  (void)std::signal(SIGXFSZ, SIG_DFL); // main() ignores it
  (void)sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(pointers.front(), pointers.data());
  const int error = errno;
  (void)clbin::base::write_all(report, std::as_bytes(std::span(&error, 1)));
  ::_exit(127);
}

// Returns 0, or the errno of exec.
int exec_error(int report) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(report, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == sizeof error ? error : 0;
}

// The terminal sends these signals to the whole process group.
bool is_of_terminal(const siginfo_t& signal) {
  return (signal.si_signo == SIGINT || signal.si_signo == SIGQUIT) && signal.si_code == SI_KERNEL;
}

ApplicationEnd wait_for(pid_t process, const BlockedSignals& signals) {
  constexpr int k_signal_base = 128;
  int status = 0;
  pid_t ended = 0;
  for (;;) {
    ended = ::waitpid(process, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) {
      break;
    }
    const auto signal = signals.next();
    if (signal && signal->si_signo != SIGCHLD && !is_of_terminal(*signal)) {
      (void)::kill(process, signal->si_signo);
    }
  }
  if (ended > 0 && WIFSIGNALED(status)) {
    return {k_signal_base + WTERMSIG(status), WTERMSIG(status)};
  }
  return {ended > 0 ? WEXITSTATUS(status) : 0, 0};
}

} // namespace

Result<ApplicationEnd> run_application(const std::vector<std::string>& command,
                                       const std::map<std::string, std::string>& variables) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::internal, "cannot create a pipe: {}", clbin::base::reason_of(errno));
  }
  const FileDescriptor from_child(ends[0]);
  FileDescriptor to_parent(ends[1]);
  const BlockedSignals signals;
  const pid_t process = ::fork();
  if (process < 0) {
    return fail(ErrorCode::internal, "cannot start a process: {}", clbin::base::reason_of(errno));
  }
  if (process == 0) {
    execute(command, variables, signals.before(), to_parent.number());
  }
  (void)to_parent.close();
  const int error = exec_error(from_child.number());
  const ApplicationEnd end = wait_for(process, signals);
  if (error != 0) {
    return fail(error == ENOENT ? ErrorCode::file_not_found : ErrorCode::file_read,
                "cannot run '{}': {}", command.front(), clbin::base::reason_of(error));
  }
  return end;
}

} // namespace oclcc
