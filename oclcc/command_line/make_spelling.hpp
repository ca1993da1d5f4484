// Names as make and ninja read them.
#pragma once

#include <string>
#include <string_view>

namespace oclcc {

// A path as a rule spells it: white space, "#", "$" and ":" escaped, so that make and ninja read it
// back. gcc leaves ":" as it is, which make then takes for the end of the targets.
[[nodiscard]] std::string escape_for_make(std::string_view path);

} // namespace oclcc
