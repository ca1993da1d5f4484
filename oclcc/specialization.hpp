// Work-group sizes that kernels are to be launched with: a driver may need to know them when it
// makes the binary, or it compiles again at the first launch.
#pragma once

#include "base/result.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace oclcc {

using GroupSize = std::array<std::uint64_t, 3>; // work-items; 1 for a dimension not given

struct Specialization {
  std::string kernel;
  GroupSize size{1, 1, 1};
  friend auto operator<=>(const Specialization&, const Specialization&) = default;
};

// "matmul=16x16": one to three sizes, each from 1 to 65536. invalid_argument.
[[nodiscard]] clbin::base::Result<Specialization> parse_specialization(const std::string& text);

// "16x16x1"
[[nodiscard]] std::string to_string(const GroupSize& size);

// Adds `specialization` in order, once.
void add_specialization(std::vector<Specialization>& all, Specialization specialization);

} // namespace oclcc
