// --record: runs an application, and writes a bundle of the programs that it built.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Returns the exit status of the application, 128 + the signal that ended it, 127 if it was not
// found, or 126 if it could not be run; if all of this is 0, that of writing the bundle.
[[nodiscard]] ExitCode record(const Options& options,
                              const clbin::cache::ProcessEnvironment& environment,
                              Reporter& reporter);

} // namespace oclcc
