#include "worker/unit_queue.hpp"

namespace oclcc::worker {

std::optional<std::uint32_t> UnitQueue::choose(std::optional<std::uint32_t> current) {
  if (current) {
    Platform& own = m_waiting[*current];
    if (!own.units.empty()) {
      return current;
    }
    if (own.workers > 0) {
      --own.workers;
    }
  }
  std::optional<std::uint32_t> chosen;
  for (const auto& [number, platform] : m_waiting) {
    // units / (workers + 1), compared without division
    if (!platform.units.empty() &&
        (!chosen || platform.units.size() * (m_waiting[*chosen].workers + 1) >
                        m_waiting[*chosen].units.size() * (platform.workers + 1))) {
      chosen = number;
    }
  }
  if (chosen) {
    ++m_waiting[*chosen].workers;
  }
  return chosen;
}

std::optional<std::size_t> UnitQueue::front(std::uint32_t platform) const {
  const auto found = m_waiting.find(platform);
  return found == m_waiting.end() || found->second.units.empty()
             ? std::nullopt
             : std::optional(found->second.units.front());
}

std::optional<std::size_t> UnitQueue::take(std::uint32_t platform) {
  const auto unit = front(platform);
  if (unit) {
    m_waiting[platform].units.pop_front();
  }
  return unit;
}

} // namespace oclcc::worker
