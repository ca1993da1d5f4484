#include "units/unit_queue.hpp"

namespace oclcc {

std::optional<std::uint32_t> UnitQueue::choose(std::optional<std::uint32_t> current) {
  if (current) {
    Lane& own = m_lanes[*current];
    if (!own.units.empty()) {
      return current;
    }
    if (own.sessions > 0) {
      --own.sessions;
    }
  }
  std::optional<std::uint32_t> chosen;
  for (const auto& [number, lane] : m_lanes) {
    // units / (sessions + 1), compared without division
    if (!lane.units.empty() &&
        (!chosen || lane.units.size() * (m_lanes[*chosen].sessions + 1) >
                        m_lanes[*chosen].units.size() * (lane.sessions + 1))) {
      chosen = number;
    }
  }
  if (chosen) {
    ++m_lanes[*chosen].sessions;
  }
  return chosen;
}

std::optional<std::size_t> UnitQueue::front(std::uint32_t lane) const {
  const auto found = m_lanes.find(lane);
  return found == m_lanes.end() || found->second.units.empty()
             ? std::nullopt
             : std::optional(found->second.units.front());
}

std::optional<std::size_t> UnitQueue::take(std::uint32_t lane) {
  const auto unit = front(lane);
  if (unit) {
    m_lanes[lane].units.pop_front();
  }
  return unit;
}

} // namespace oclcc
