// -###: what the compile mode would do, as commands.
#pragma once

#include "compile/compile_job.hpp"
#include "output/output_plan.hpp"

#include <string>
#include <string_view>

namespace oclcc {

// oclcc's version; then, each on its line and after a blank, an oclcc command for each unit, which
// a shell on this machine can run as it is, and one that makes the output of what they made. A
// single unit makes the output itself. `job` has its programs, variants and devices.
[[nodiscard]] std::string preview_of(const Job& job, const Options& options,
                                     const OutputPlan& output);

} // namespace oclcc
