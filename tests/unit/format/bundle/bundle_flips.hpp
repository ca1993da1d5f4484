// Flips every single bit of a golden bundle. Each flip is rejected or changes nothing.
#pragma once

#include <cstddef>
#include <string>

namespace clbin::format {

struct FlipCounts {
  std::size_t refused = 0;
  std::size_t equal = 0;
  std::string first_failure;
};

// Flips every bit of the file, on two threads. The test fails if a flip is neither rejected nor
// harmless.
[[nodiscard]] FlipCounts flip_all_bits(const std::string& name);

} // namespace clbin::format
