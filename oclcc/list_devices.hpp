#pragma once

#include "exit_code.hpp"
#include "options.hpp"
#include "reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// --list-devices: one line a device, the whole table with -v, or JSON.
[[nodiscard]] ExitCode list_devices(const Options& options, const worker::WorkerSettings& settings,
                                    Reporter& reporter);

} // namespace oclcc
