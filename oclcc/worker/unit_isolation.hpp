// What keeps earlier units out of a unit's bytes. The one place that knows which driver needs what.
#pragma once

#include "format/device_identity.hpp"

#include <cstdint>

namespace oclcc::worker {

enum class UnitIsolation : std::uint8_t {
  context, // each unit gets a context
  copy,    // each unit gets a context in a copy of a process that built a trivial program only
  process, // each unit gets a worker
};

// `process` for a driver that nobody has measured. Its units are then independent of each other at
// the price of one start of the driver each.
[[nodiscard]] UnitIsolation unit_isolation(const clbin::format::DeviceIdentity& identity) noexcept;

} // namespace oclcc::worker
