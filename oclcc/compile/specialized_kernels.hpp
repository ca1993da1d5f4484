// Checks the kernels of --specialize.
#pragma once

#include "compile/compile_job.hpp"

namespace oclcc {

// Checks a job after its units were built. Skips failed units; if a unit of an optional program
// failed, every specialization passes. invalid_argument if no unit has the kernel of a
// specialization (with the existing kernels), or if the kernel cannot be launched with the size.
[[nodiscard]] clbin::base::Result<void> require_specialized_kernels(const Job& job);

} // namespace oclcc
