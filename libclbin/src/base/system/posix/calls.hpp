// Calls that only POSIX systems have, for rooms that are not built elsewhere: oclcc and the layer.
#pragma once

#include "base/system/files.hpp"

#include <csignal>
#include <sys/stat.h>

namespace clbin::base {

// With O_NONBLOCK in `flags`, does not block until the other end of a pipe is opened. Returns a
// negative number and sets errno on failure. The file never becomes the controlling terminal, and
// programs started later do not inherit it.
[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept;
// Whether the call that just failed should be repeated. If it failed because a standard stream of
// the caller is non-blocking, first blocks until the stream is ready. `events` as for poll.
[[nodiscard]] bool should_retry(int number, short events) noexcept;
[[nodiscard]] FileStatus to_file_status(const struct stat& status) noexcept;
// Returns the signals that end a run in good order, except those that are ignored (nohup).
[[nodiscard]] sigset_t ending_signals();

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

} // namespace clbin::base
