// Work-group sizes of launches. Some drivers need them to create the binary; otherwise, they
// compile again at the first launch.
#pragma once

#include "base/result.hpp"
#include "model/kernel.hpp"

namespace oclcc {

using clbin::format::GroupSize;
using clbin::format::Specialization;

// Parses "matmul=16x16": one to three sizes, each from 1 to 65536. invalid_argument for any other
// text.
[[nodiscard]] clbin::base::Result<Specialization> parse_specialization(const std::string& text);

// Returns true if each number is from 1 to 65536.
[[nodiscard]] bool is_specializable(const GroupSize& size) noexcept;

// "16x16x1"
[[nodiscard]] std::string to_string(const GroupSize& size);

// Returns the work_group_size_hint in CL_KERNEL_ATTRIBUTES, which drivers format differently.
// std::nullopt if there is none, or if no device supports it.
[[nodiscard]] std::optional<GroupSize> hinted_size(std::string_view attributes);

// Returns the sizes for which `kernel` is specialized, in order, without duplicates: the required
// size if there is one, because no other can be launched; otherwise the hint and the sizes of
// `specializations`, except sizes above the device limit.
[[nodiscard]] std::vector<GroupSize>
sizes_to_specialize(const clbin::format::KernelReflection& kernel,
                    const std::vector<Specialization>& specializations);

// Returns whether one of the specializations is for launches of the kernel with this size and a
// global offset.
[[nodiscard]] bool has_offset_launch(const std::string& kernel, const GroupSize& size,
                                     const std::vector<Specialization>& specializations);

// Inserts `specialization` in order, unless it is already present.
void add_specialization(std::vector<Specialization>& all, Specialization specialization);

} // namespace oclcc
