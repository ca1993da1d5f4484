// --verify: whether bundles are sound, and with --run whether their entries load.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Silent where all is well. With --run, every entry is loaded on each chosen device for which the
// library would attempt it, in a worker process; k_entry_does_not_load where one is refused.
[[nodiscard]] ExitCode verify(const Options& options, const worker::WorkerSettings& settings,
                              Reporter& reporter);

} // namespace oclcc
