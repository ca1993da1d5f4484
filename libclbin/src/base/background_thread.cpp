#include "base/background_thread.hpp"

namespace clbin::base {

sigset_t all_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  return all;
}

std::thread start_background_thread(std::function<void()> work) {
  const BlockedSignals blocked(all_signals());
  return std::thread(std::move(work));
}

} // namespace clbin::base
