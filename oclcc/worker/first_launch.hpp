// What drivers must be told so that a binary holds the code that its first launch runs. The one
// place that knows which driver needs what.
#pragma once

#include "command_line/specialization.hpp"
#include "format/bundle.hpp"
#include "format/device_identity.hpp"

#include <optional>
#include <span>
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

// The names of those of `kernels`, which are all of one binary, that a driver of `family` compiles
// at their first launch whatever the size of its work-groups; empty for drivers that do not
// specialize. std::nullopt if nothing but the kernels' names is known.
[[nodiscard]] std::optional<std::vector<std::string>>
kernels_compiled_at_launch(clbin::format::DeviceFamily family,
                           std::span<const clbin::format::KernelReflection> kernels);

} // namespace oclcc::worker
