#include "remote/time_budget.hpp"

#include <algorithm>
#include <utility>

namespace oclcc::remote {

TimeBudget::TimeBudget(std::chrono::milliseconds total, std::function<Clock::time_point()> now)
    : m_now(std::move(now)), m_left(total) {}

std::chrono::milliseconds TimeBudget::left() const {
  const std::lock_guard lock(m_mutex);
  return std::chrono::duration_cast<std::chrono::milliseconds>(m_left);
}

void TimeBudget::charge(Clock::time_point begin, RequestEnd end, std::size_t at_once) {
  if (end == RequestEnd::hit) {
    return;
  }
  const std::chrono::nanoseconds waited = m_now() - begin - k_free;
  if (waited > std::chrono::nanoseconds::zero()) {
    const std::lock_guard lock(m_mutex);
    m_left =
        std::max(std::chrono::nanoseconds::zero(),
                 m_left - waited / static_cast<std::int64_t>(std::max<std::size_t>(1, at_once)));
  }
}

void TimeBudget::exhaust() {
  const std::lock_guard lock(m_mutex);
  m_left = std::chrono::nanoseconds::zero();
}

} // namespace oclcc::remote
