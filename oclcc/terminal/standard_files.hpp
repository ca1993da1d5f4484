// Handles closed standard streams.
#pragma once

namespace oclcc {

// Opens each closed standard stream such that its use still fails with EBADF. Otherwise, the next
// opened file would get its number: messages would be written into an output file with number 2.
// Returns false and sets errno on failure. Call it first, from the only thread.
[[nodiscard]] bool keep_standard_files_open() noexcept;

} // namespace oclcc
