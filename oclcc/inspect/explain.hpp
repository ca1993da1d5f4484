// --explain: shows which entry each program loads on each installed device, and why.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Passes every matching entry to the drivers, in workers; a crash affects only the line of the
// entry. Names IL and source without compiling them, and ignores the user cache.
[[nodiscard]] ExitCode explain(const Options& options, const worker::WorkerSettings& settings,
                               Reporter& reporter);

} // namespace oclcc
