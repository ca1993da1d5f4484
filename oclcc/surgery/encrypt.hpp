// --encrypt and --decrypt: the same bundles with encrypted or plain contents.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o. Compresses nothing again: decrypting restores the bytes that were
// encrypted. An encrypted bundle is encrypted anew, with another key or for other recipients.
[[nodiscard]] ExitCode encrypt(const Options& options, Reporter& reporter);
// A bundle that is not encrypted is an error.
[[nodiscard]] ExitCode decrypt(const Options& options, Reporter& reporter);

} // namespace oclcc
