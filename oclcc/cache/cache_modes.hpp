// --cache-stats and --clear-cache, for the user cache of libclbin and the compile cache of oclcc,
// which share a directory.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Both functions find the caches of `environment` even if CLBIN_CACHE=0 disables them. A missing
// directory is an empty cache. ExitCode::file if the directory is not usable or cannot be cleared.
[[nodiscard]] ExitCode cache_stats(const Options& options,
                                   const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);
// Removes the entries and the counters of both caches, but no other file in the directory.
// Concurrent builds still store their results.
[[nodiscard]] ExitCode clear_cache(const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);

} // namespace oclcc
