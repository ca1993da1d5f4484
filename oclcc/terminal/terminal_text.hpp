// Formats text for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oclcc {

// Returns white space as wide as the first `column` - 1 bytes of `line` on a terminal, with tabs
// unchanged. Following text is then below byte `column` (from 1; 0 counts as 1). Each byte that is
// not UTF-8 counts as one cell.
[[nodiscard]] std::string padding_below(std::string_view line, std::size_t column);

// Returns `text` with question marks instead of characters that could control the terminal or
// deceive the reader, and instead of bytes that are not UTF-8. These characters are control
// characters except tabs, line separators, and characters that Unicode allows displays to ignore:
// bidirectional controls, zero-width characters, fillers, variation selectors and tags. Letters of
// all scripts are unchanged.
[[nodiscard]] std::string printable(std::string_view text);

// Applies printable() to each line and keeps the line ends.
[[nodiscard]] std::string printable_lines(std::string_view text);

// Returns a JSON document with \u escapes instead of the characters that printable() replaces. The
// values are unchanged.
[[nodiscard]] std::string printable_json(std::string_view document);

// Returns the longest prefix of `text` that fits in `cells` cells of a line.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t cells);

} // namespace oclcc
