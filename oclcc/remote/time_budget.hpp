// How long look-ups in the remote cache may delay a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace oclcc::remote {

using Clock = std::chrono::steady_clock;

enum class RequestEnd : std::uint8_t { hit, no_hit };

// Returns how long a look-up may take without using up the budget. A hit saves a build: 200 ms, and
// 1 ms for each KiB of the entry, are less than most builds take. A miss saves nothing: 50 ms.
[[nodiscard]] Clock::duration free_time(RequestEnd end, std::size_t size_bytes);

// Wall time, from begin() to end(), during which requests are made over several connections at
// once, less its free parts: each counts as one connection's share. So this phase takes at most the
// budget and the free parts together, whatever a server does, if each request ends within left().
// Unused free time is not kept for later. Thread-safe.
class TimeBudget {
public:
  explicit TimeBudget(std::chrono::milliseconds total,
                      std::function<Clock::time_point()> now = Clock::now);

  [[nodiscard]] Clock::time_point now() const { return m_now(); }
  // Returns what is left; never negative.
  [[nodiscard]] std::chrono::milliseconds left() const;
  // Whether another look-up may begin: less than a half is used. So each has at least a half of the
  // budget until its deadline. Only a server that does not answer for so long is faulty.
  [[nodiscard]] bool allows_look_up() const;

  // Begins a phase of requests over `at_once` connections; at least 1.
  void begin(std::size_t at_once);
  void end();
  // `time` of one connection in this phase is free: of a look-up, or between two of them.
  void grant(Clock::duration time);
  // Uses up everything.
  void exhaust();

private:
  [[nodiscard]] Clock::duration used() const; // the caller holds m_mutex

  std::function<Clock::time_point()> m_now;
  mutable std::mutex m_mutex; // of what follows
  Clock::duration m_total;
  Clock::duration m_used{};                 // before this phase
  std::optional<Clock::time_point> m_begin; // of this phase, moved by all that is not used up
  std::int64_t m_at_once = 1;
};

} // namespace oclcc::remote
