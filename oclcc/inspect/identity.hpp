#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// --identity: prints the features of this machine (machine_feature.hpp) as Slurm's configuration
// expects them, or the machine as JSON. no_opencl or no_device, as for find_installed_devices, if
// the machine has neither a device nor the programs of an offline target.
[[nodiscard]] ExitCode identity(const Options& options, const worker::WorkerSettings& settings,
                                Reporter& reporter);

} // namespace oclcc
