// --keygen: makes a key pair, or a content key.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <stop_token>

namespace oclcc {

// Never replaces a file.
[[nodiscard]] ExitCode keygen(const Options& options, std::stop_token stop, Reporter& reporter);

} // namespace oclcc
