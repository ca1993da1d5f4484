// Kernels of PTX, read without a driver.
#pragma once

#include "base/result.hpp"
#include "format/binary/kernel_reflection.hpp"

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
  // PTX contains neither names nor types of arguments: they are absent.
  KernelReflection reflection;
  std::vector<PtxParameter> parameters;
};

// Reads each .entry of a module, ascending by name; a NUL ends the text. Safe on untrusted input;
// memory and time are in proportion to the size of `text`.
//
// required_work_group_size is that of .reqntid, max_work_group_size that of .maxntid, and
// attributes are those that NVIDIA's driver writes into .metadata_section, else made of .reqntid.
// local_bytes counts the .shared variables of a kernel, and those of the module that its code
// names; it is absent if the kernel calls functions in a module that has .shared variables outside
// kernels.
//
// Error code damaged, with the kernel's name and the place: a text that is no PTX module, or whose
// kernels cannot be read.
[[nodiscard]] base::Result<std::vector<PtxKernel>> read_ptx_kernels(std::string_view text);

} // namespace clbin::format
