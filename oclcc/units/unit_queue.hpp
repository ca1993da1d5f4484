// Selects the next unit. Units wait in lanes, because a session of a compiler is fastest with units
// of one lane. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace oclcc {

class UnitQueue {
public:
  void add(std::uint32_t lane, std::size_t unit) { m_lanes[lane].units.push_back(unit); }

  // Returns the lane that the caller's session serves next: `current`, its last one, as long as
  // that has units; otherwise the one with the most units per session. std::nullopt if all units
  // are taken.
  [[nodiscard]] std::optional<std::uint32_t> choose(std::optional<std::uint32_t> current);
  // Returns the next unit of a lane without, or with, removing it; std::nullopt if other sessions
  // have taken all units.
  [[nodiscard]] std::optional<std::size_t> front(std::uint32_t lane) const;
  [[nodiscard]] std::optional<std::size_t> take(std::uint32_t lane);

private:
  struct Lane {
    std::deque<std::size_t> units;
    std::size_t sessions = 0;
  };
  std::map<std::uint32_t, Lane> m_lanes;
};

} // namespace oclcc
