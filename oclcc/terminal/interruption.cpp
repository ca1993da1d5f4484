#include "terminal/interruption.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
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

struct Interruption::State {
  sigset_t handled{};
  sigset_t before{};
  int signals = -1;
  int end = -1; // readable when the thread must return
  std::stop_source stop;
  std::thread thread;

  void wait();
};

void Interruption::State::wait() {
  for (;;) {
    pollfd files[] = {{signals, POLLIN, 0}, {end, POLLIN, 0}};
    const int ready = ::poll(files, 2, -1);
    if (ready < 0 && errno != EINTR) {
      return;
    }
    if (ready > 0 && files[1].revents != 0) {
      return;
    }
    signalfd_siginfo facts{};
    if (ready > 0 && ::read(signals, &facts, sizeof(facts)) == sizeof(facts)) {
      stop.request_stop();
      end_by(static_cast<int>(facts.ssi_signo));
    }
  }
}

Interruption::Interruption() : m_state(std::make_unique<State>()) {
  State& state = *m_state;
  state.handled = signals_to_handle();
  state.signals = ::signalfd(-1, &state.handled, SFD_CLOEXEC | SFD_NONBLOCK);
  state.end = ::eventfd(0, EFD_CLOEXEC);
  if (state.signals < 0 || state.end < 0) {
    return; // the signals then have their default actions; a guard cleans up after them
  }
  ::pthread_sigmask(SIG_BLOCK, &state.handled, &state.before);
  state.thread = std::thread([&state] { state.wait(); });
}

Interruption::~Interruption() {
  State& state = *m_state;
  if (state.thread.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(state.end, &one, sizeof(one));
    state.thread.join();
    ::pthread_sigmask(SIG_SETMASK, &state.before, nullptr);
  }
  for (const int file : {state.signals, state.end}) {
    if (file >= 0) {
      ::close(file);
    }
  }
}

std::stop_token Interruption::stop_token() const noexcept {
  return m_state->stop.get_token();
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
