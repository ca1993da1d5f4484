// What Ctrl-C, SIGTERM and SIGHUP do: clean up, then what they do to any process.
#pragma once

#include <memory>
#include <stop_token>

namespace oclcc {

// From its construction on, those of the signals that are not ignored already (nohup) are waited
// for by a thread of its own and blocked in threads started later: construct it before any other
// thread. When one comes, `stop_token` is stopped, on that thread, and once its callbacks have
// returned the process ends by the same signal. One an executable.
class Interruption {
public:
  Interruption();
  ~Interruption(); // the signals are as they were before
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] std::stop_token stop_token() const noexcept;

private:
  struct State;
  std::unique_ptr<State> m_state;
};

} // namespace oclcc
