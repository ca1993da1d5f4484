#include "base/background_thread.hpp"

#include <csignal>
#include <pthread.h>

namespace clbin::base {

namespace {

// Blocks all signals during its lifetime: a thread inherits the signals that are blocked.
class SignalsBlocked {
public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    m_is_set = ::pthread_sigmask(SIG_SETMASK, &all, &m_before) == 0;
  }
  ~SignalsBlocked() {
    if (m_is_set) {
      ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
  }
  SignalsBlocked(SignalsBlocked&&) = delete; // and no copies

private:
  sigset_t m_before{};
  bool m_is_set = false;
};

} // namespace

std::thread start_background_thread(std::function<void()> work) {
  const SignalsBlocked blocked;
  return std::thread(std::move(work));
}

} // namespace clbin::base
