// Rung 4 of the ladder: IL that a device supports.
#pragma once

#include "loader/entry_attempts.hpp"

#include <optional>
#include <vector>

namespace clbin::loader {

// Returns the modules that the device supports, best first; the first call for a device reads them.
// Empty if run-time options require source, whose preprocessor they are for.
[[nodiscard]] const std::vector<IlModule>& il_modules(const LoadSession& session,
                                                      std::uint32_t device);

// Passes the IL that the device supports to the driver, best first, until it accepts a
// module.
[[nodiscard]] std::optional<ProvedEntry> try_il(const LoadSession& session, std::uint32_t device,
                                                EntryOutcome& outcome);

} // namespace clbin::loader
