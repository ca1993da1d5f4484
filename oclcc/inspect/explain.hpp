// --explain: which rung of libclbin's ladder serves each program on each installed device, and why.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Entries that fit are really handed to the drivers, every one, in workers: one that crashes costs
// its own line. IL and source are named, never compiled, and the user cache is not looked at.
[[nodiscard]] ExitCode explain(const Options& options, const worker::WorkerSettings& settings,
                               Reporter& reporter);

} // namespace oclcc
