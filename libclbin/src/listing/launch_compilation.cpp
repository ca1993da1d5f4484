#include "listing/launch_compilation.hpp"

namespace clbin::listing {

std::optional<std::vector<std::string_view>>
kernels_compiled_at_launch(format::DeviceFamily family,
                           std::span<const format::KernelReflection> kernels) {
  std::vector<std::string_view> names;
  if (!needs_specialization(family)) {
    return names;
  }
  for (const format::KernelReflection& kernel : kernels) {
    format::KernelReflection bare;
    bare.name = kernel.name;
    if (kernel == bare) { // after --strip-reflection, or if a driver cannot create the kernel
      return std::nullopt;
    }
    if (kernel.specialized_sizes.empty()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

} // namespace clbin::listing
