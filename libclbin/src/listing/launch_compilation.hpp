// Which kernels of a binary a driver compiles at their first launch, and for which work-group sizes
// it is to compile them before.
#pragma once

#include "model/device.hpp"
#include "model/kernel.hpp"

namespace clbin::listing {

using format::GroupSize;

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

// No device supports larger work-groups, and each size costs a compilation.
inline constexpr std::uint64_t k_largest_group = 65536; // work-items of a dimension

// "16x16" → 16, 16, 1, with the separator 'x': one to three numbers from 1 to k_largest_group.
// std::nullopt for anything else.
[[nodiscard]] std::optional<GroupSize> parse_group_size(std::string_view text, char separator);
// "16x16x1"
[[nodiscard]] std::string to_string(const GroupSize& size);

// Whether a kernel can be compiled for the size: no dimension is 0, or above k_largest_group.
[[nodiscard]] bool is_specializable(const GroupSize& size) noexcept;
// Returns the work_group_size_hint in CL_KERNEL_ATTRIBUTES, which drivers format differently.
// std::nullopt if there is none, or if no device supports it.
[[nodiscard]] std::optional<GroupSize> hinted_size(std::string_view attributes);
// Returns the sizes for which `kernel` is specialized, in order, without duplicates: the required
// size if there is one, because no other can be launched; otherwise the hint and the sizes of
// `specializations`, except sizes above the device limit.
[[nodiscard]] std::vector<GroupSize>
sizes_to_specialize(const format::KernelReflection& kernel,
                    const std::vector<format::Specialization>& specializations);
// Returns whether one of the specializations is for launches of the kernel with this size and a
// global offset.
[[nodiscard]] bool has_offset_launch(const std::string& kernel, const GroupSize& size,
                                     const std::vector<format::Specialization>& specializations);

} // namespace clbin::listing
