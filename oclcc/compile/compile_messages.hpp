// What the compilers of one run said, for the user.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

#include <string_view>

namespace oclcc {

// Parses the build log of each unit, once: Job::diagnostics. A unit that was built in spite of an
// error becomes a failure: Oclgrind ignores -Werror.
void read_build_logs(Job& job);

// After read_build_logs. Tells every unit's diagnostics, once each, and the failures that no
// diagnostic tells. Whether every unit was built, but variants that a device cannot build and units
// of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// "TITLE:" and the text, with -v, where there is any.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

} // namespace oclcc
