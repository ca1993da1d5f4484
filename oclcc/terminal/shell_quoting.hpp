// Quotes words of command lines that users copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace oclcc {

// Returns `word` quoted such that a POSIX shell reads it unchanged.
[[nodiscard]] std::string quote_for_shell(std::string_view word);

// Returns `word` between single quotes, which a POSIX shell reads unchanged. Its control characters
// stay as they are: for files, and not for terminals.
[[nodiscard]] std::string in_single_quotes(std::string_view word);

} // namespace oclcc
