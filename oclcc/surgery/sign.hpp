// --sign: bundles with signatures.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <stop_token>

namespace oclcc {

// Signs each bundle in place, or one to -o, or writes its signature file (--detached). Verifies a
// bundle before it signs it. Call it before other threads start.
[[nodiscard]] ExitCode sign(const Options& options, std::stop_token stop, Reporter& reporter);

} // namespace oclcc
