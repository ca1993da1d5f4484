// The executable's mkostemp and related functions, which drivers use instead of libc's because the
// executable exports them.
#pragma once

namespace oclcc::worker {

// Restarts the numbers of temporary files at 0. Call it at the start of each unit, so that the
// names that a driver writes into a binary do not depend on previous units.
void reset_temporary_names() noexcept;

} // namespace oclcc::worker
