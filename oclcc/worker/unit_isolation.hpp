// Knows how to keep the binary of a unit independent of previous units, for each driver. No other
// file knows it.
#pragma once

#include "model/device.hpp"

#include <cstdint>

namespace oclcc::worker {

enum class UnitIsolation : std::uint8_t {
  context, // each unit gets a context
  copy,    // each unit gets a context in a fork of a process that only built a trivial program
  process, // each unit gets a worker
};

// Returns `process` for an unknown driver: its units are independent, but each starts the driver
// once.
[[nodiscard]] UnitIsolation unit_isolation(const clbin::format::DeviceIdentity& identity) noexcept;

// What a process builds before it is copied, so that its copies find a compiler that is loaded.
enum class WarmUp : std::uint8_t {
  source, // affects the bytes of what the process and its copies build later
  il,     // affects no bytes
};

// Depends on what the device supports.
[[nodiscard]] WarmUp warm_up_for(const clbin::format::DeviceIdentity& identity);

} // namespace oclcc::worker
