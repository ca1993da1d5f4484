// --repack: bundles compressed afresh.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o: the bytes that one run of oclcc would have made of the same
// contents; hidden payloads are gone.
[[nodiscard]] ExitCode repack(const Options& options, Reporter& reporter);

} // namespace oclcc
