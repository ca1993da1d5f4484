// Which kernels compile at their first launch, because a binary has no code for their work-groups.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// With -v: a note for each program and device with such kernels, with the options that avoid it.
void note_first_launches(const Job& job, Reporter& reporter);

} // namespace oclcc
