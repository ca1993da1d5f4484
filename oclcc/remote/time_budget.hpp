// How long the remote cache may delay a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

namespace oclcc::remote {

using Clock = std::chrono::steady_clock;

enum class RequestEnd : std::uint8_t { hit, no_hit };

// Waits for requests that do not supply a binary are charged, except the first 50 ms of each: a
// server that is healthy, but does not have the entries, is not switched off. Thread-safe.
class TimeBudget {
public:
  static constexpr std::chrono::milliseconds k_free{50}; // of each request

  explicit TimeBudget(std::chrono::milliseconds total,
                      std::function<Clock::time_point()> now = Clock::now);

  [[nodiscard]] Clock::time_point now() const { return m_now(); }
  // Returns what is left; never negative. No request may wait longer.
  [[nodiscard]] std::chrono::milliseconds left() const;
  // Charges a wait since `begin` in a group of `at_once` requests that wait at the same time; at
  // least 1. Each is charged its share, because their waits overlap.
  void charge(Clock::time_point begin, RequestEnd end, std::size_t at_once);
  // Charges everything: nothing is left.
  void exhaust();

private:
  std::function<Clock::time_point()> m_now;
  mutable std::mutex m_mutex;
  std::chrono::nanoseconds m_left;
};

} // namespace oclcc::remote
