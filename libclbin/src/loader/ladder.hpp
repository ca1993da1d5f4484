// The rungs of the ladder that load binaries, and the fallback after them. Each function is for one
// device of a load, which may have others.
#pragma once

#include "loader/entry_attempts.hpp"
#include "loader/user_cache_rung.hpp"

#include <string>

namespace clbin::loader {

// Tries rungs 1 to 3 of the ladder (libclbin(3), "Loading") for one device: exact entries, the user
// cache, compatible entries.
[[nodiscard]] EntryOutcome climb(const LoadSession& session, std::uint32_t device,
                                 UserCacheRung& user_cache, ForLater for_later);

// Records the entries that were not attempted, unless an entry made for exactly this device was
// loaded.
void explain_outcome(const LoadSession& session, std::uint32_t device, const EntryOutcome& outcome);

// Returns the error of the entries, for a load that may not build source or has none.
[[nodiscard]] tl::unexpected<base::Error>
entries_error(const LoadSession& session, std::uint32_t device, const EntryOutcome& outcome);

// Returns why source is built, as a sentence for the report.
[[nodiscard]] std::string source_reason(const EntryOutcome& outcome);

// Builds source. If the bundle has none, or the policy is `never`, returns why the entries failed.
[[nodiscard]] base::Result<opencl::Program> fall_back(const LoadSession& session,
                                                      std::uint32_t device,
                                                      const EntryOutcome& outcome,
                                                      std::string reason);

} // namespace clbin::loader
