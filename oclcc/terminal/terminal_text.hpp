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

// `text` with a question mark in the place of each character that could drive the terminal or
// deceive its reader, and of each byte that is not UTF-8. Those are control characters except tabs,
// line separators, and what Unicode lets a display ignore: bidirectional controls, zero-width
// characters, fillers, variation selectors and tags. Letters of every script stay.
[[nodiscard]] std::string printable(std::string_view text);

// printable() of each line; the ends of lines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

// A JSON document with the characters that printable() replaces as \u escapes: the values stay the
// same.
[[nodiscard]] std::string printable_json(std::string_view document);

// As much of the front of `text` as `cells` of a line hold.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t cells);

} // namespace oclcc
