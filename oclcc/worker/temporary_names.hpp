// The executable's own mkostemp and its kin, which drivers find before libc's because the
// executable exports them.
#pragma once

namespace oclcc::worker {

// The next temporary file is number 0 again. Call it at the start of each unit: then the names that
// a driver leaves in a binary do not depend on what was built before.
void reset_temporary_names() noexcept;

} // namespace oclcc::worker
