// The compile mode: compiles sources into one bundle, or one raw device binary.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Returns ExitCode::compile_failed if a unit fails. Then it writes nothing, or with --keep-going,
// the units that compiled. `cache_settings` applies to the compile cache.
[[nodiscard]] ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                               const clbin::cache::CacheSettings& cache_settings,
                               Reporter& reporter);

// --plan: plans the same compile for another engine (plan/unit_plan.hpp), and compiles nothing.
[[nodiscard]] ExitCode plan_compile(const Options& options, const worker::WorkerSettings& settings,
                                    const clbin::cache::CacheSettings& cache_settings,
                                    Reporter& reporter);

} // namespace oclcc
