// Words of command lines that people copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace oclcc {

// A word as a POSIX shell reads it back.
[[nodiscard]] std::string quote_for_shell(std::string_view word);

} // namespace oclcc
