// Selects the next unit. Units wait by platform, because a worker of one platform serves all of its
// units. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace oclcc::worker {

class UnitQueue {
public:
  void add(std::uint32_t platform, std::size_t unit) { m_waiting[platform].units.push_back(unit); }

  // Returns the platform that the caller's worker serves next: `current`, its last one, as long as
  // that has units; otherwise the one with the most units per worker. std::nullopt if all units are
  // taken.
  [[nodiscard]] std::optional<std::uint32_t> choose(std::optional<std::uint32_t> current);
  // Returns the next unit of a platform without, or with, removing it; std::nullopt if other
  // workers have taken all units.
  [[nodiscard]] std::optional<std::size_t> front(std::uint32_t platform) const;
  [[nodiscard]] std::optional<std::size_t> take(std::uint32_t platform);

private:
  struct Platform {
    std::deque<std::size_t> units;
    std::size_t workers = 0;
  };
  std::map<std::uint32_t, Platform> m_waiting;
};

} // namespace oclcc::worker
