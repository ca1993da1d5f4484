// Measurements as JSON: one object with "seed", "devices" and "measurements".
#pragma once

#include "devices.hpp"
#include "measurement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runtime_demo {

[[nodiscard]] std::string json_report(const std::vector<Device>& devices, std::uint64_t seed,
                                      std::span<const Measurement> measurements);

} // namespace runtime_demo
