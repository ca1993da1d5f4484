// Does --specialize name kernels that there are?
#pragma once

#include "compile/compile_job.hpp"

namespace oclcc {

// For a job whose units were built; those that were not are passed over, and one of an optional
// program that was not makes everything pass. invalid_argument when a
// specialization names a kernel that no unit has, with those that there are, or a size that the
// kernel cannot be launched with.
[[nodiscard]] clbin::base::Result<void> require_specialized_kernels(const Job& job);

} // namespace oclcc
