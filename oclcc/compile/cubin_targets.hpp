// Plans the cubins of a run.
#pragma once

#include "compile/compile_job.hpp"

#include <chrono>

namespace oclcc {

// Adds a target after each NVIDIA device: the cubins that ptxas makes of the device's PTX. Does
// nothing if there is no NVIDIA device. `settings`, with a home, and `timeout` apply to ptxas.
// no_device: there is no ptxas.
[[nodiscard]] clbin::base::Result<void>
add_cubin_targets(Job& job, const worker::WorkerSettings& settings, std::chrono::seconds timeout);

} // namespace oclcc
