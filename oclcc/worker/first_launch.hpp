// Knows how to include the code of the first launch in the binaries of each driver. No other file
// knows it.
#pragma once

#include "command_line/specialization.hpp"
#include "format/bundle/bundle.hpp"
#include "format/identity/device_identity.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oclcc::worker {

// One pass of creating a binary, with an environment variable set.
struct BinaryPass {
  std::string purpose; // "while specializing for large grids"
  std::string variable;
  std::string value;
};

// Returns the passes of creating a binary, in order. Each pass requires a process that has not
// created a binary before; all passes share a cache directory. The binary of the last pass contains
// the code of all passes. Empty if the driver needs no passes.
[[nodiscard]] std::vector<BinaryPass> first_launch_passes(clbin::format::DeviceFamily family,
                                                          const std::vector<GroupSize>& sizes);

// Whether first_launch_passes can be non-empty, so that sizes matter.
[[nodiscard]] bool needs_specialization(clbin::format::DeviceFamily family) noexcept;

// Returns the names of the `kernels` of one binary that a driver of `family` compiles at their
// first launch, whatever the work-group size. Empty for drivers that do not specialize.
// std::nullopt if only the names of the kernels are known.
[[nodiscard]] std::optional<std::vector<std::string>>
kernels_compiled_at_launch(clbin::format::DeviceFamily family,
                           std::span<const clbin::format::KernelReflection> kernels);

} // namespace oclcc::worker
