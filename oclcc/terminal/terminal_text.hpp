// Formats text for a terminal.
#pragma once

#include "base/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace oclcc {

using clbin::base::printable;
using clbin::base::printable_json;
using clbin::base::printable_lines;

// Returns white space as wide as the first `column` - 1 bytes of `line` on a terminal, with tabs
// unchanged. Following text is then below byte `column` (from 1; 0 counts as 1). Each byte that is
// not UTF-8 counts as one cell.
[[nodiscard]] std::string padding_below(std::string_view line, std::size_t column);

// Returns the longest prefix of `text` that fits in `cells` cells of a line.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t cells);

} // namespace oclcc
