#include "listing/launch_compilation.hpp"

namespace clbin::listing {

using format::DeviceFamily;
using format::KernelReflection;

namespace {

// As after --strip-reflection, or if a driver cannot create the kernel.
bool has_only_a_name(const KernelReflection& kernel) {
  KernelReflection bare;
  bare.name = kernel.name;
  return kernel == bare;
}

} // namespace

bool needs_specialization(DeviceFamily family) noexcept {
  return family == DeviceFamily::pocl;
}

std::optional<std::vector<std::string_view>>
kernels_compiled_at_launch(DeviceFamily family, std::span<const KernelReflection> kernels) {
  std::vector<std::string_view> names;
  if (!needs_specialization(family)) {
    return names;
  }
  for (const KernelReflection& kernel : kernels) {
    if (has_only_a_name(kernel)) {
      return std::nullopt;
    }
    if (kernel.specialized_sizes.empty()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

} // namespace clbin::listing
