// --cache-stats and --clear-cache: the user cache of libclbin and the compile cache of oclcc, which
// lie in one folder.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Both find the caches of `environment` also where CLBIN_CACHE=0 keeps others from using them.
// ExitCode::file for a folder that is not used, or that cannot be cleared; one that is not there is
// an empty one.
[[nodiscard]] ExitCode cache_stats(const Options& options,
                                   const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);
// Removes what the caches hold, and their counters; nothing else that lies in their folder. What is
// being built meanwhile is stored all the same.
[[nodiscard]] ExitCode clear_cache(const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);

} // namespace oclcc
