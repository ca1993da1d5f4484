// Which kernels of a binary a driver compiles at their first launch.
#pragma once

#include "model/device.hpp"
#include "model/kernel.hpp"

namespace clbin::listing {

// Whether drivers of `family` compile a kernel for each work-group size.
[[nodiscard]] constexpr bool needs_specialization(format::DeviceFamily family) noexcept {
  return family == format::DeviceFamily::pocl;
}

// Returns the names of the `kernels` of one binary that a driver of `family` compiles at their
// first launch, whatever the work-group size. Empty for drivers that do not specialize.
// std::nullopt if only the names of the kernels are known. The names are valid as long as the
// kernels.
[[nodiscard]] std::optional<std::vector<std::string_view>>
kernels_compiled_at_launch(format::DeviceFamily family,
                           std::span<const format::KernelReflection> kernels);

} // namespace clbin::listing
