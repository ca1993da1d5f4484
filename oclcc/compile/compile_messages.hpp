// Reports the messages of the compilers of one run.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

#include <string_view>

namespace oclcc {

// Parses the build log of each unit, once, into Job::diagnostics. Marks units as failed that were
// built in spite of an error, because Oclgrind ignores -Werror.
void read_build_logs(Job& job);

// Prints the diagnostics of every unit, without duplicates, and the failures without a diagnostic.
// Call read_build_logs first. Returns whether every unit was built, except variants that a device
// cannot build and units of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// Prints "TITLE:" and the text with -v, unless the text is empty.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

} // namespace oclcc
