#include "remote/time_budget.hpp"

#include <algorithm>
#include <utility>

namespace oclcc::remote {

namespace {

constexpr std::chrono::milliseconds k_free_of_a_miss{50};
constexpr std::chrono::milliseconds k_free_of_a_hit{200};
constexpr std::size_t k_free_bytes_per_ms = 1024;

} // namespace

Clock::duration free_time(RequestEnd end, std::size_t size_bytes) {
  return end == RequestEnd::no_hit
             ? k_free_of_a_miss
             : k_free_of_a_hit + std::chrono::milliseconds(size_bytes / k_free_bytes_per_ms);
}

TimeBudget::TimeBudget(std::chrono::milliseconds total, std::function<Clock::time_point()> now)
    : m_now(std::move(now)), m_total(total) {}

Clock::duration TimeBudget::used() const {
  return m_begin ? std::max(Clock::duration::zero(), m_now() - *m_begin) : m_used;
}

std::chrono::milliseconds TimeBudget::left() const {
  const std::lock_guard lock(m_mutex);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(Clock::duration::zero(), m_total - used()));
}

bool TimeBudget::allows_look_up() const {
  const std::lock_guard lock(m_mutex);
  return used() < m_total / 2;
}

void TimeBudget::begin(std::size_t at_once) {
  const std::lock_guard lock(m_mutex);
  m_begin = m_now() - used();
  m_at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, at_once));
}

void TimeBudget::end() {
  const std::lock_guard lock(m_mutex);
  m_used = used();
  m_begin.reset();
}

void TimeBudget::grant(Clock::duration time) {
  const std::lock_guard lock(m_mutex);
  if (m_begin) {
    m_begin = std::max(*m_begin, std::min(m_now(), *m_begin + time / m_at_once));
  }
}

void TimeBudget::exhaust() {
  const std::lock_guard lock(m_mutex);
  m_total = Clock::duration::zero();
}

} // namespace oclcc::remote
