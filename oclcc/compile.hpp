// The compile mode: sources in, one bundle (or one raw device binary) out.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

// Nothing is written when a unit fails, but with --keep-going what did compile is; the status is
// ExitCode::compile_failed either way. `cache_settings` are those of the compile cache.
[[nodiscard]] ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                               const clbin::cache::CacheSettings& cache_settings,
                               Reporter& reporter);

} // namespace oclcc
