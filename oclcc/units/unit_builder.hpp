// Builds units concurrently.
#pragma once

#include "base/result.hpp"
#include "units/compiler.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace oclcc {

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
  std::function<clbin::base::Result<void>(std::size_t unit, Unit& complete)> complete;
  // Returns the result of a unit, from `build` or from another source; if empty, `build` is used.
  // Called concurrently on the building threads, once per unit that is not skipped.
  std::function<UnitResult(std::size_t unit, const std::function<UnitResult()>& build)> make;
};

// Returns one result per unit, in the order of the units. Calls `on_finished` on the caller's
// thread with the number of finished units, the last unit, and its result. `on_finished` may move
// parts out of the result to release memory early.
[[nodiscard]] std::vector<UnitResult> build_units(
    const BuildPlan& plan,
    const std::function<void(std::size_t done, std::size_t unit, UnitResult& result)>& on_finished);

} // namespace oclcc
