// Knows how to include the code of the first launch in the binaries of each driver. No other file
// knows it.
#pragma once

#include "command_line/specialization.hpp"
#include "listing/launch_compilation.hpp"
#include "model/device.hpp"

#include <set>
#include <string>
#include <vector>

namespace oclcc::worker {

using clbin::listing::needs_specialization;

// One pass of creating a binary, with an environment variable set.
struct BinaryPass {
  std::string purpose; // "while specializing for large grids"
  std::string variable;
  std::string value;
};

// Returns the passes of creating a binary, in order. Each pass requires a process that has not
// created a binary before; all passes share a cache directory. The binary of the last pass contains
// the code of all passes. Empty unless needs_specialization(family).
// `offset_sizes` are those of `sizes` with which launches have a global offset.
[[nodiscard]] std::vector<BinaryPass> first_launch_passes(clbin::format::DeviceFamily family,
                                                          const std::set<GroupSize>& sizes,
                                                          const std::set<GroupSize>& offset_sizes);

} // namespace oclcc::worker
