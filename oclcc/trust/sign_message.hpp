// --sign-message: writes what a signature of a bundle signs.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Verifies the bundle first, because the message alone does not show what it signs.
[[nodiscard]] ExitCode sign_message(const Options& options, Reporter& reporter);

} // namespace oclcc
