// Standard input, output and error, where oclcc was started without them.
#pragma once

namespace oclcc {

// Opens what is closed of the three such that its use fails as that of a closed file does (EBADF).
// Else the next file to be opened has its number: an output file at 2 gets the messages written
// into it. False, with errno, where that cannot be done. To be called before anything else, by one
// thread.
[[nodiscard]] bool keep_standard_files_open() noexcept;

} // namespace oclcc
