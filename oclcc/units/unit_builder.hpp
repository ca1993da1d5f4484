// Builds units concurrently.
#pragma once

#include "units/unit.hpp"

#include <deque>

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

struct PlannedUnit {
  Unit unit;
  std::size_t compiler = 0; // index in BuildPlan::compilers
  // Another unit of the plan, which must be built before, and reported. Not itself, directly or
  // through others.
  std::optional<std::size_t> input{};
};

struct BuildPlan {
  std::vector<std::shared_ptr<Compiler>> compilers;
  std::vector<PlannedUnit> units;
  unsigned jobs = 1; // concurrent sessions; at least 1
  // Adds what a unit takes from another one, so that it is in memory no longer than its build. If
  // it fails, so does the unit. If empty, units are complete. Called concurrently on the building
  // threads, after on_finished was called for the unit's input.
  std::function<Result<void>(std::size_t unit, Unit& complete)> complete;
  // Returns the result of a unit, from `build` or from another source; if empty, `build` is used.
  // Called concurrently on the building threads, once per unit that is not skipped.
  std::function<UnitResult(std::size_t unit, const std::function<UnitResult()>& build)> make;
};

// Returns one result per unit, in the order of the units. Calls `on_finished` on the caller's
// thread with the number of finished units, the last unit, and its result. `on_finished` may move
// the result, or parts of it, to release memory early.
[[nodiscard]] std::vector<UnitResult> build_units(
    const BuildPlan& plan,
    const std::function<void(std::size_t done, std::size_t unit, UnitResult& result)>& on_finished);

} // namespace oclcc
