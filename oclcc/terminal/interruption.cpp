#include "terminal/interruption.hpp"

#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace oclcc {

namespace {

sigset_t signals_to_handle() {
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

// The signal is blocked in the caller's thread.
void end_by(int signal) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
}

} // namespace

void Interruption::wait() {
  for (;;) {
    pollfd files[] = {{m_signals.number(), POLLIN, 0}, {m_end.number(), POLLIN, 0}};
    const int ready = ::poll(files, 2, -1);
    if (ready < 0 && errno != EINTR) {
      return;
    }
    if (ready > 0 && files[1].revents != 0) {
      return;
    }
    signalfd_siginfo facts{};
    if (ready > 0 && ::read(m_signals.number(), &facts, sizeof(facts)) == sizeof(facts)) {
      m_stop.request_stop();
      end_by(static_cast<int>(facts.ssi_signo));
    }
  }
}

Interruption::Interruption()
    : m_handled(signals_to_handle()),
      m_signals(::signalfd(-1, &m_handled, SFD_CLOEXEC | SFD_NONBLOCK)),
      m_end(::eventfd(0, EFD_CLOEXEC)) {
  if (!m_signals.is_open() || !m_end.is_open()) {
    return; // the signals then have their default actions; a guard cleans up after them
  }
  ::pthread_sigmask(SIG_BLOCK, &m_handled, &m_before);
  m_thread = std::thread([this] { wait(); });
}

Interruption::~Interruption() {
  if (m_thread.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(m_end.number(), &one, sizeof(one));
    m_thread.join();
    ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
  }
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
