// --list-targets: the offline targets, and which of them can be used here.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Starts only tools whose version matters and is not in the compile cache of `cache`. Returns
// ExitCode::file if the list cannot be written.
[[nodiscard]] ExitCode list_targets(const Options& options, const worker::WorkerSettings& settings,
                                    const clbin::cache::CacheSettings& cache, Reporter& reporter);

} // namespace oclcc
