// Formats kernels for text output.
#pragma once

#include "model/bundle.hpp"

#include <string>
#include <vector>

namespace oclcc {

// Returns "matmul(global float* restrict C, int width)", or "matmul(5 arguments)" or "matmul(...)"
// if less is known.
[[nodiscard]] std::string kernel_signature(const clbin::format::KernelReflection& kernel);
// Returns the known facts: "work-group 16x16x1 required, at most 256", "2048 bytes of local
// memory", …
[[nodiscard]] std::vector<std::string> kernel_facts(const clbin::format::KernelReflection& kernel);

// Returns a text for each kernel, "scale: 64, 16x16, NULL in 2 dimensions": the local sizes of its
// launches. `launches` are sorted, and of one variant.
[[nodiscard]] std::vector<std::string>
launch_texts(const std::vector<clbin::format::RecordedLaunch>& launches);
// Returns "DEVICE (PLATFORM): scale, fill".
[[nodiscard]] std::string build_text(const clbin::format::RecordedBuild& build);

} // namespace oclcc
