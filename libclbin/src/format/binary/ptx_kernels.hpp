// Kernels of PTX, read without a driver.
#pragma once

#include "base/result.hpp"
#include "model/kernel.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace clbin::format {

enum class PtxParameterKind : std::uint8_t { value, pointer, texture, surface, sampler };

struct PtxParameter {
  PtxParameterKind kind = PtxParameterKind::value;
  AddressSpace address_space = AddressSpace::private_; // as clGetKernelArgInfo; textures are global
  std::uint64_t size_bytes = 0;                        // 0 for textures, surfaces and samplers
  friend bool operator==(const PtxParameter&, const PtxParameter&) = default;
};

struct PtxKernel {
  // Argument names and types are absent, because PTX does not contain them.
  KernelReflection reflection;
  std::vector<PtxParameter> parameters;
};

// Reads each .entry of a module. Returns the kernels, ascending by name. A NUL ends the text. Safe
// on untrusted input; memory and time are proportional to the size of `text`.
//
// required_work_group_size is that of .reqntid, and max_work_group_size that of .maxntid.
// attributes are those that NVIDIA's driver writes into .metadata_section; without them, they are
// derived from .reqntid. local_bytes includes the .shared variables of a kernel, and those of the
// module that its code names. It is absent if the kernel calls functions in a module that has
// .shared variables outside kernels.
//
// Error: damaged, with the kernel's name and the position, if the text is not a PTX module or its
// kernels cannot be read.
[[nodiscard]] base::Result<std::vector<PtxKernel>> read_ptx_kernels(std::string_view text);

} // namespace clbin::format
