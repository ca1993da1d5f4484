#include "worker/unit_queue.hpp"

namespace oclcc::worker {

std::optional<std::size_t> UnitQueue::take(std::optional<std::uint32_t> current) {
  Platform* chosen = nullptr;
  if (current) {
    Platform& own = m_waiting[*current];
    if (!own.units.empty()) {
      chosen = &own;
    } else if (own.workers > 0) {
      --own.workers;
    }
  }
  if (chosen == nullptr) {
    for (auto& [number, platform] : m_waiting) {
      // units / (workers + 1), compared without division
      if (!platform.units.empty() &&
          (chosen == nullptr || platform.units.size() * (chosen->workers + 1) >
                                    chosen->units.size() * (platform.workers + 1))) {
        chosen = &platform;
      }
    }
    if (chosen == nullptr) {
      return std::nullopt;
    }
    ++chosen->workers;
  }
  const std::size_t unit = chosen->units.front();
  chosen->units.pop_front();
  return unit;
}

} // namespace oclcc::worker
