// Kernels and specialization constants of a SPIR-V module, read without a driver.
#pragma once

#include "base/byte_codec.hpp"
#include "model/kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clbin::format {

struct SpirvModule {
  std::uint16_t version_major = 0;
  std::uint16_t version_minor = 0;
  std::uint8_t address_bits = 0; // 32, 64, or 0 for logical addressing
  std::vector<std::uint32_t> capabilities;
  std::vector<KernelReflection> kernels;    // ascending by name
  std::vector<SpecConstant> spec_constants; // ascending by spec_id
  // Functions and variables that another module must define, by their linkage names; ascending.
  // Built-in functions that the translator does not know are among them.
  std::vector<std::string> imports;
};

// Reads a module in either byte order. Safe on untrusted input; memory and time are proportional to
// the size of `bytes`.
//
// For each argument, returns the values that clGetKernelArgInfo returns for the source. Type names
// and qualifiers are those of the strings "kernel_arg_type.KERNEL.TYPE,…" and
// "kernel_arg_type_qual.KERNEL.…", which SPIRV-LLVM-Translator writes with
// --preserve-ocl-kernel-arg-type-metadata-through-string. Without them, type names are derived from
// the SPIR-V types, which do not distinguish int from uint, and `const` is known only of __constant
// arguments. Argument names are those of OpName, otherwise empty.
//
// Errors: truncated, damaged, newer_version, and limit_exceeded if the names that the arguments
// repeat exceed 16 MiB + 4 times the size of `bytes`.
[[nodiscard]] base::Result<SpirvModule> read_spirv_module(base::ByteView bytes);

} // namespace clbin::format
