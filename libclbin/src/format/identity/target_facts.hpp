// The numbers of TARGET that are read out of a target's texts.
#pragma once

#include "format/identity/device_identity.hpp"

#include <cstdint>

namespace clbin::format {

struct TargetFacts {
  DeviceFamily family = DeviceFamily::unknown;
  std::uint32_t architecture = 0;
  std::uint32_t features = 0;
};

// What clbin(5) says of TARGET.family, architecture and features. Zeros for what does not parse.
[[nodiscard]] TargetFacts target_facts(const Target& target);

} // namespace clbin::format
