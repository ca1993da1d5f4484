// Escapes names for make and ninja.
#pragma once

#include <string>
#include <string_view>

namespace oclcc {

// Returns `path` with white space, "#", "$" and ":" escaped for make and ninja. gcc does not escape
// ":", which make then parses as the end of the targets.
[[nodiscard]] std::string escape_for_make(std::string_view path);

} // namespace oclcc
