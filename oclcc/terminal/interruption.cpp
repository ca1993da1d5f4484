#include "terminal/interruption.hpp"

#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
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

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present {};
    if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) {
      ::sigaddset(&set, signal);
    }
  }
  return set;
}

void Interruption::wait() {
  siginfo_t facts{};
  for (;;) {
    const int signal = ::sigwaitinfo(&m_signals, &facts);
    if (signal == k_end && facts.si_pid == ::getpid()) {
      return;
    }
    if (signal > 0 && signal != k_end) {
      m_stop.request_stop();
      end_by(signal);
    }
  }
}

Interruption::Interruption() : m_signals(ending_signals()) {
  ::sigaddset(&m_signals, k_end);
  ::pthread_sigmask(SIG_BLOCK, &m_signals, &m_before);
  m_thread = std::thread([this] { wait(); });
}

Interruption::~Interruption() {
  ::pthread_kill(m_thread.native_handle(), k_end);
  m_thread.join();
  ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
}

bool keep_standard_files_open() noexcept {
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

} // namespace oclcc
