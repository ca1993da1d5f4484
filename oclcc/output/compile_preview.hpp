// -###: formats the steps of the compile mode as commands.
#pragma once

#include "compile/compile_job.hpp"
#include "output/output_plan.hpp"

#include <string>
#include <string_view>

namespace oclcc {

// Returns oclcc's version, then one command per line, each after a space: an oclcc command for each
// unit, which a shell on this machine can run, and one that combines their results. A single unit
// writes the output itself. `job` contains programs, variants and devices.
[[nodiscard]] std::string preview_of(const Job& job, const Options& options,
                                     const OutputPlan& output);

} // namespace oclcc
