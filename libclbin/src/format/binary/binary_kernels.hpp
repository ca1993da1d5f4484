// What device binaries say about their kernels, read without a driver. Every function is safe on
// untrusted input. Kernels are ascending by name, and their arguments are as clGetKernelArgInfo
// reports them.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "model/kernel.hpp"

namespace clbin::format {

// AMD. Reads the metadata note of a code object of version 3 or later (AMDGPUUsage, "Code Object V3
// Metadata"). Arguments do not include hidden ones. Their names and types are empty unless the code
// was compiled with -cl-kernel-arg-info. max_work_group_size is the largest size that the code was
// compiled for, and preferred_multiple is the size of the wavefront. `vendor` contains "sgprs" and
// "vgprs", and "agprs", "sgpr_spills" and "vgpr_spills" unless they are 0. Errors: truncated,
// damaged, and limit_exceeded if the metadata contains more than 1 Mi values.
[[nodiscard]] Result<std::vector<KernelReflection>> read_amd_kernels(ByteView code_object);

// Intel. Reads the section .ze_info of a zebin (intel-graphics-compiler, ZEBinStandard/ZEInfo).
// Arguments are absent unless the code was compiled with -cl-kernel-arg-info; argument_count is
// known in either case. preferred_multiple is the SIMD width. `vendor` contains "grf_count" and,
// unless they are 0, "scratch_bytes" and "spill_bytes" of a hardware thread. Errors: truncated,
// damaged.
[[nodiscard]] Result<std::vector<KernelReflection>> read_zebin_kernels(ByteView zebin);

// NVIDIA. Reads the symbols and .nv.info of a cubin of 64 bits. Arguments are absent. local_bytes
// does not include what the caller gives, and private_bytes is the frame of the kernel's stack.
// `vendor` contains "registers" of a work-item. Errors: truncated, damaged, and limit_exceeded if
// the names exceed 16 MiB + 4 times the size of `cubin`.
[[nodiscard]] Result<std::vector<KernelReflection>> read_cubin_kernels(ByteView cubin);

// NVIDIA. Reads the directives at the start of every PTX module: .version, .target and
// .address_size (32 if absent). Skips comments and white space before and between them; a NUL ends
// the text. Returns std::nullopt if the text does not begin with these directives, or ends before
// the next directive.
[[nodiscard]] std::optional<BinaryInfo> read_ptx_header(std::string_view text);

struct PtxKernel {
  KernelReflection reflection;       // without arguments, of which other tools know more
  std::uint64_t parameter_bytes = 0; // of all, aligned; without textures, surfaces and samplers
  std::uint64_t instructions = 0;    // of the body
};

// Reads each .entry of a PTX module. Memory and time are proportional to the size of `text`.
// required_work_group_size is that of .reqntid. attributes are those that NVIDIA's driver writes
// into .metadata_section; without them, they are derived from .reqntid. local_bytes includes the
// .shared variables of a kernel, and those of the module that its code names. It is absent if the
// kernel calls functions in a module that has .shared variables outside kernels. Error: damaged,
// with the kernel's name.
[[nodiscard]] Result<std::vector<PtxKernel>> read_ptx_kernels(std::string_view text);

// SPIR-V. Reads the header and the addressing model. Errors: damaged, truncated.
[[nodiscard]] Result<BinaryInfo> read_spirv_header(ByteView bytes);

struct SpirvModule {
  std::uint16_t version_major = 0;
  std::uint16_t version_minor = 0;
  std::uint8_t address_bits = 0; // 32, 64, or 0 for logical addressing
  std::vector<KernelReflection> kernels;
  std::vector<SpecConstant> spec_constants; // ascending by spec_id
  // Functions and variables that another module must define, by their linkage names; ascending.
  // Built-in functions that the translator does not know are among them.
  std::vector<std::string> imports;
};

// Accepts either byte order. Memory and time are proportional to the size of `bytes`.
// Type names and qualifiers are those of the strings "kernel_arg_type.KERNEL.TYPE,…" and
// "kernel_arg_type_qual.KERNEL.…", which SPIRV-LLVM-Translator writes with
// --preserve-ocl-kernel-arg-type-metadata-through-string. Without them, type names are derived from
// the SPIR-V types, which do not distinguish int from uint, and `const` is known only of __constant
// arguments. Argument names are those of OpName, otherwise empty. Errors: truncated, damaged,
// newer_version, and limit_exceeded if the names that the arguments repeat exceed 16 MiB + 4 times
// the size of `bytes`.
[[nodiscard]] Result<SpirvModule> read_spirv_module(ByteView bytes);

// What the code of a kernel contains. Unknown numbers are absent.
struct KernelCode {
  ByteView code; // the machine code of `code_bytes`, borrowed; empty if its place is not known
  std::optional<std::uint64_t> code_bytes;     // of machine code, without functions that it calls
  std::optional<std::uint64_t> constant_bytes; // NVIDIA: of the kernel's own constant banks
  // Where there is no machine code. PTX: of the body. SPIR-V: with those of the functions that it
  // calls, at each call; absent if functions call one another in a circle.
  std::optional<std::uint64_t> instructions;
};
using KernelCodes = std::map<std::string, KernelCode, std::less<>>;

// Reads the code of all kernels of a device binary: sections .text.KERNEL and .nv.constant of
// cubins and zebins, functions of AMD's code objects, functions _pocl_kernel_KERNEL_workgroup of
// PoCL's shared objects, alone or in its binaries, PTX, and SPIR-V. Some names may be those of
// other functions. Returns no kernels for other kinds. Errors: damaged, truncated, and
// limit_exceeded as for read_cubin_kernels.
[[nodiscard]] Result<KernelCodes> read_kernel_codes(ByteView binary);

} // namespace clbin::format
