// Every single-bit flip of a golden bundle: each is refused, or changes nothing.
#pragma once

#include <cstddef>
#include <string>

namespace clbin::format {

struct FlipCounts {
  std::size_t refused = 0;
  std::size_t equal = 0;
  std::string first_failure;
};

// Flips every bit of the file, on two threads; the test fails where a flip is neither.
[[nodiscard]] FlipCounts flip_all_bits(const std::string& name);

} // namespace clbin::format
