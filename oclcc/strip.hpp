// --strip: bundles without some of their entries, source or reflection.
#pragma once

#include "exit_code.hpp"
#include "options.hpp"
#include "reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o. Nothing is compressed again. A bundle that would be left with
// nothing stays as it is, which is an error.
[[nodiscard]] ExitCode strip(const Options& options, Reporter& reporter);

} // namespace oclcc
