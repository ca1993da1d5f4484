// Replaces characters that could control a terminal or deceive a reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clbin::base {

// The value of a byte that is not part of valid UTF-8, which counts as one character.
inline constexpr char32_t k_no_character = 0xFFFFFFFF;

struct CodePoint {
  char32_t value = k_no_character;
  std::size_t size_bytes = 1;
};

// Returns the first character of `text`, which must not be empty.
[[nodiscard]] CodePoint first_character(std::string_view text);

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

} // namespace clbin::base
