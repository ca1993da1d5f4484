// What the compilers of one run said, for the user.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

#include <string_view>

namespace oclcc {

// Makes a failure of each unit that was built in spite of an error: a driver that ignores -Werror
// (Oclgrind) built what should not have been.
void refuse_warnings(Job& job);

// Tells every unit's diagnostics, once each, and the failures that no diagnostic tells. Whether
// every unit was built, but variants that a device cannot build and units of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// "TITLE:" and the text, with -v, where there is any.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

} // namespace oclcc
