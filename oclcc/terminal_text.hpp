// Text as a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oclcc {

// White space as wide as the first `column` - 1 bytes of `line` are on a terminal, tabs kept, so
// that what follows stands under byte `column` (from 1; 0 counts as 1). Bytes that are not UTF-8
// count as one cell each.
[[nodiscard]] std::string padding_below(std::string_view line, std::size_t column);

// `text` without control characters but tabs: what a source file or a driver's log holds cannot
// drive the terminal.
[[nodiscard]] std::string printable(std::string_view text);

// As much of the front of `text` as `cells` of a line hold.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t cells);

} // namespace oclcc
