#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// --list-devices: prints one line per device, the whole table with -v, or JSON.
[[nodiscard]] ExitCode list_devices(const Options& options, const worker::WorkerSettings& settings,
                                    Reporter& reporter);

} // namespace oclcc
