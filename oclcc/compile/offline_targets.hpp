// Plans the offline targets of a run.
#pragma once

#include "compile/compile_job.hpp"

namespace oclcc {

// Checks the words of --target and --tool, whether or not anything is compiled. invalid_argument.
[[nodiscard]] clbin::base::Result<void> check_offline_options(const Options& options);

// Adds the targets of --target, each once, and their compiler, which uses the compile cache of
// `cache`. `settings` must have a home.
// invalid_argument: a word is no target. no_device: a compiler is not installed. file_not_found: a
// tool of --tool does not exist.
[[nodiscard]] clbin::base::Result<void>
add_offline_targets(Job& job, const Options& options, const worker::WorkerSettings& settings,
                    const clbin::cache::CacheSettings& cache);

} // namespace oclcc
