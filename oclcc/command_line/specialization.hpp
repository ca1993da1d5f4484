// Work-group sizes that kernels are to be launched with: a driver may need to know them when it
// makes the binary, or it compiles again at the first launch.
#pragma once

#include "base/result.hpp"
#include "format/bundle.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

using GroupSize = std::array<std::uint64_t, 3>; // work-items; 1 for a dimension not given

struct Specialization {
  std::string kernel;
  GroupSize size{1, 1, 1};
  friend auto operator<=>(const Specialization&, const Specialization&) = default;
};

// "matmul=16x16": one to three sizes, each from 1 to 65536. invalid_argument.
[[nodiscard]] clbin::base::Result<Specialization> parse_specialization(const std::string& text);

// "16x16x1"
[[nodiscard]] std::string to_string(const GroupSize& size);

// The size of work_group_size_hint in CL_KERNEL_ATTRIBUTES, which drivers spell differently;
// std::nullopt if there is none, or one that no device has.
[[nodiscard]] std::optional<GroupSize> hinted_size(std::string_view attributes);

// The sizes that `kernel` is to be specialized for, in order, each once: the one that it requires,
// because no other can be launched; otherwise its hint and those of `specializations` for it,
// without sizes above the device's limit.
[[nodiscard]] std::vector<GroupSize>
sizes_to_specialize(const clbin::format::KernelReflection& kernel,
                    const std::vector<Specialization>& specializations);

// Adds `specialization` in order, once.
void add_specialization(std::vector<Specialization>& all, Specialization specialization);

} // namespace oclcc
