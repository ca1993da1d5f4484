#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace clbin::base {

// Blocks signals of this thread until its end, or restore(). Threads and processes that start
// meanwhile inherit the blocked signals.
class BlockedSignals {
public:
  explicit BlockedSignals(const sigset_t& signals) noexcept
      : m_is_set(::pthread_sigmask(SIG_BLOCK, &signals, &m_before) == 0) {}
  ~BlockedSignals() { restore(); }
  BlockedSignals(BlockedSignals&&) = delete; // and no copies

  void restore() const noexcept {
    if (m_is_set) {
      ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
  }

private:
  sigset_t m_before{};
  bool m_is_set;
};
[[nodiscard]] inline sigset_t all_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  return all;
}

// Starts a thread that receives no signals: signal handlers belong to the application. `work` must
// not throw. Throws std::system_error if the system cannot create a thread.
[[nodiscard]] inline std::thread start_background_thread(std::function<void()> work) {
  const BlockedSignals blocked(all_signals());
  return std::thread(std::move(work));
}

} // namespace clbin::base
