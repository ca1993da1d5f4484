// Kernels of AMD's code objects, read without a driver.
#pragma once

#include "base/byte_codec.hpp"
#include "model/kernel.hpp"

#include <vector>

namespace clbin::format {

// Reads the metadata note of a code object of version 3 or later (AMDGPUUsage, "Code Object V3
// Metadata"). Returns its kernels, ascending by name. Safe on untrusted input.
//
// Arguments are those of the source, without hidden ones, as clGetKernelArgInfo reports them. Their
// names and types are empty unless the code was compiled with -cl-kernel-arg-info.
// max_work_group_size is the largest size that the code was compiled for, and preferred_multiple is
// the size of the wavefront. `vendor` contains "sgprs" and "vgprs". It also contains "agprs",
// "sgpr_spills" and "vgpr_spills" unless they are 0.
//
// Errors: truncated, damaged, and limit_exceeded if the metadata contains more than 1 Mi values.
[[nodiscard]] base::Result<std::vector<KernelReflection>>
read_amd_kernels(base::ByteView code_object);

} // namespace clbin::format
