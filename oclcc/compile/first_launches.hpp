// Reports kernels that compile at their first launch, because the binary contains no code for their
// work-groups.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// With -v, prints a note for each program and device with such kernels, and the options that avoid
// it.
void note_first_launches(const Job& job, Reporter& reporter);

} // namespace oclcc
