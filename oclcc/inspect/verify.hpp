// --verify: checks whether bundles are valid and, with --run, whether their entries load.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Prints nothing for valid bundles. With --run, loads every entry on each selected device for which
// the library would try it, in a worker. Returns k_entry_does_not_load if a driver rejects one.
[[nodiscard]] ExitCode verify(const Options& options, const worker::WorkerSettings& settings,
                              Reporter& reporter);

} // namespace oclcc
