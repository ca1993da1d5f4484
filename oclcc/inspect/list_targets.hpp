// --list-targets: the offline targets, and which of them can be used here.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Starts no program. Returns ExitCode::file if the list cannot be written.
[[nodiscard]] ExitCode list_targets(const Options& options, Reporter& reporter);

} // namespace oclcc
