// Kernels of Intel's zebins, read without a driver.
#pragma once

#include "base/byte_codec.hpp"
#include "model/kernel.hpp"

#include <vector>

namespace clbin::format {

// Reads the section .ze_info (intel-graphics-compiler, ZEBinStandard/ZEInfo). Returns the zebin's
// kernels, ascending by name. Safe on untrusted input.
//
// Arguments are as clGetKernelArgInfo reports them. They are absent unless the code was compiled
// with -cl-kernel-arg-info; argument_count is known in either case. preferred_multiple is the SIMD
// width. `vendor` contains "grf_count" and, unless they are 0, "scratch_bytes" and "spill_bytes" of
// a hardware thread.
//
// Errors: truncated, damaged.
[[nodiscard]] base::Result<std::vector<KernelReflection>> read_zebin_kernels(base::ByteView zebin);

} // namespace clbin::format
