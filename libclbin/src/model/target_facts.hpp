// Numbers of TARGET that are parsed from the texts of a target.
#pragma once

#include "model/device.hpp"

#include <cstdint>

namespace clbin::format {

struct TargetFacts {
  DeviceFamily family = DeviceFamily::unknown;
  std::uint32_t architecture = 0;
  std::uint32_t features = 0;
};

// Returns TARGET.family, architecture and features as specified in clbin(5). Fields that cannot be
// parsed are 0.
[[nodiscard]] TargetFacts target_facts(const Target& target);

} // namespace clbin::format
