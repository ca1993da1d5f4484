// --strip-signature: bundles without signatures.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o. Removes signatures, counters and vouches, valid or not. No other
// byte changes, except the total size.
[[nodiscard]] ExitCode strip_signature(const Options& options, Reporter& reporter);

} // namespace oclcc
