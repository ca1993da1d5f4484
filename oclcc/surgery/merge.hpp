// --merge: one bundle of many, as a build on several machines makes them.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// The union of the inputs to -o, which may be one of them: all are read before it is written.
[[nodiscard]] ExitCode merge(const Options& options, Reporter& reporter);

} // namespace oclcc
