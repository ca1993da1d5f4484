// What drivers must be told so that a binary holds the code that its first launch runs. The one
// place that knows which driver needs what.
#pragma once

#include "command_line/specialization.hpp"
#include "format/device_identity.hpp"

#include <string>
#include <vector>

namespace oclcc::worker {

// One way to ask for a binary: with an environment variable set.
struct BinaryPass {
  std::string purpose; // "while specializing for large grids"
  std::string variable;
  std::string value;
};

// The binary is to be asked for once with each pass, in their order, each in a process that has
// never asked for a binary before; all of them with the same cache folder. The last answer holds
// what all made. Empty: the driver makes no difference, ask as usual.
[[nodiscard]] std::vector<BinaryPass> first_launch_passes(clbin::format::DeviceFamily family,
                                                          const std::vector<GroupSize>& sizes);

// Whether that is ever not empty: then the sizes matter.
[[nodiscard]] bool needs_specialization(clbin::format::DeviceFamily family) noexcept;

} // namespace oclcc::worker
