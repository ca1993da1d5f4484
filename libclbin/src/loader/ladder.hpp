// The rungs that binaries stand on, and what comes where none of them serves: for one device of a
// load, whether or not there are others.
#pragma once

#include "loader/load_session.hpp"
#include "loader/user_cache_rung.hpp"

#include <string>

namespace clbin::loader {

// Rungs 1 to 3 of the ladder (libclbin(3), "Loading") for one device: exact entries, the
// user cache, compatible entries.
[[nodiscard]] EntryOutcome climb(const LoadSession& session, std::uint32_t device,
                                 UserCacheRung& user_cache, ForLater for_later);

// Tells of the entries that were not attempted, unless one made for this very device was loaded.
void explain_outcome(const LoadSession& session, std::uint32_t device, const EntryOutcome& outcome);

// What entries failed with, for the case that source may not serve or is not there.
[[nodiscard]] tl::unexpected<base::Error>
entries_error(const LoadSession& session, std::uint32_t device, const EntryOutcome& outcome);

// Why it came to source, a sentence for the report.
[[nodiscard]] std::string source_reason(const EntryOutcome& outcome);

// Source, or where the bundle has none, why the entries did not serve.
[[nodiscard]] base::Result<opencl::Program> fall_back(const LoadSession& session,
                                                      std::uint32_t device,
                                                      const EntryOutcome& outcome,
                                                      std::string reason);

} // namespace clbin::loader
