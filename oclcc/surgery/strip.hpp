// --strip: bundles without some of their entries, source or reflection.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o. Nothing is compressed again. A bundle that would be left with
// nothing stays as it is, which is an error.
[[nodiscard]] ExitCode strip(const Options& options, Reporter& reporter);

} // namespace oclcc
