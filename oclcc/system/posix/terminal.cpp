#include "terminal/interruption.hpp"

#include "base/system/posix/calls.hpp"
#include "trust/key_files.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <initializer_list>
#include <mutex>
#include <stop_token>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace oclcc {

namespace {

// Ends the thread, if this process sends it.
const int k_end = SIGRTMIN;

// The signal is blocked in the caller's thread.
void end_by(int signal) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
}

} // namespace

std::vector<std::string> command_line_words(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

struct Interruption::State {
  explicit State(std::stop_source& source) : stop(source) {}
  std::stop_source& stop;
  sigset_t signals = base::ending_signals(); // that the thread waits for
  sigset_t before{};
  std::thread thread{};

  void wait() {
    siginfo_t facts{};
    for (;;) {
      const int signal = ::sigwaitinfo(&signals, &facts);
      if (signal == k_end && facts.si_pid == ::getpid()) {
        return;
      }
      if (signal > 0 && signal != k_end) {
        stop.request_stop();
        end_by(signal);
      }
    }
  }
};

Interruption::Interruption() : m_state(std::make_unique<State>(m_stop)) {
  ::sigaddset(&m_state->signals, k_end);
  ::pthread_sigmask(SIG_BLOCK, &m_state->signals, &m_state->before);
  m_state->thread = std::thread([state = m_state.get()] { state->wait(); });
}

Interruption::~Interruption() {
  ::pthread_kill(m_state->thread.native_handle(), k_end);
  m_state->thread.join();
  ::pthread_sigmask(SIG_SETMASK, &m_state->before, nullptr);
}

bool prepare_process() noexcept {
  (void)std::signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` fails like any other
  (void)std::signal(SIGCHLD, SIG_DFL); // or the exit status of no process would be known
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) {
      continue;
    }
    // Opened for the opposite direction, so that reading and writing fail. open returns the lowest
    // free number.
    const int flags = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) != number) { // NOLINT(cppcoreguidelines-pro-type-vararg)
      return false;
    }
  }
  return true;
}

namespace trust {

using base::in_quotes;
using base::SecretBytes;

namespace {

constexpr const char* k_terminal = "/dev/tty";

// A terminal that does not echo, until the destructor or a stop.
class SilentTerminal {
public:
  SilentTerminal(int number, const std::stop_token& stop) : m_number(number) {
    if (::tcgetattr(m_number, &m_before) != 0) {
      m_error = errno;
      return;
    }
    termios silent = m_before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= ICANON | ECHONL;
    // Ctrl-Z would return to a shell that echoes, and Ctrl-\ would leave the terminal silent.
    silent.c_cc[VSUSP] = _POSIX_VDISABLE;
    silent.c_cc[VQUIT] = _POSIX_VDISABLE;
    m_is_silent = true;
    m_on_stop.emplace(stop, [this] { restore(); });
    const std::lock_guard lock(m_mutex);
    if (m_is_silent && ::tcsetattr(m_number, TCSAFLUSH, &silent) != 0) {
      m_error = errno;
    }
  }
  ~SilentTerminal() {
    m_on_stop.reset(); // waits for a running callback
    restore();
  }
  SilentTerminal(SilentTerminal&&) = delete; // and no copies

  [[nodiscard]] int error() const noexcept { return m_error; }

private:
  void restore() {
    const std::lock_guard lock(m_mutex);
    if (std::exchange(m_is_silent, false)) {
      (void)::tcsetattr(m_number, TCSAFLUSH, &m_before);
    }
  }

  int m_number;
  int m_error = 0;
  bool m_is_silent = false;
  std::mutex m_mutex;
  termios m_before{};
  std::optional<std::stop_callback<std::function<void()>>> m_on_stop;
};

} // namespace

Result<SecretBytes> ask_terminal(const std::string& question, const std::stop_token& stop) {
  const FileDescriptor terminal(base::open_retrying(k_terminal, O_RDWR));
  if (!terminal.is_open()) {
    return base::open_error(in_quotes(k_terminal), errno);
  }
  const SilentTerminal silent(terminal.number(), stop);
  if (silent.error() != 0) {
    return fail(ErrorCode::file_read, "cannot hide a passphrase on '{}': {}", k_terminal,
                reason_of(silent.error()));
  }
  (void)base::write_all(terminal.number(), base::as_bytes(question));
  CLBIN_TRY_ASSIGN(auto line, read_secret_line(terminal.number(), in_quotes(k_terminal)));
  if (!line) {
    return fail(ErrorCode::file_read, "no passphrase was entered");
  }
  return std::move(*line);
}

} // namespace trust

} // namespace oclcc
