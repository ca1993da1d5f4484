// Text of drivers, files and people: its lines and characters, escapes for JSON and terminals, the
// lines of configuration files, and the words of build options. Views refer to the given text.
#pragma once

#include "base/result.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <vector>

namespace clbin::base {

// Returns the lines without their ends, which are "\n" or "\r\n". A line end at the end of the text
// starts no further line.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
// Returns the parts of `text` that are between the characters `separators`, without empty ones.
[[nodiscard]] std::vector<std::string_view> words_between(std::string_view separators,
                                                          std::string_view text);

// ---- Characters --------------------------------------------------------------------------------

// Returns the size in bytes of the valid UTF-8 character (RFC 3629) at the start of `text`, or 0 if
// there is none. `text` must not be empty.
[[nodiscard]] std::size_t character_bytes(std::string_view text) noexcept;

// The value of a byte that is not part of valid UTF-8, which counts as one character.
inline constexpr char32_t k_no_character = 0xFFFFFFFF;

struct CodePoint {
  char32_t value = k_no_character;
  std::size_t size_bytes = 1;
};
// Returns the first character of `text`, which must not be empty.
[[nodiscard]] CodePoint first_character(std::string_view text);

// Returns UTF-8 for the arbitrary bytes of drivers, for JSON: a byte that is not part of valid
// UTF-8, and the byte 0x10 itself, becomes the character U+0010 and two lower-case hexadecimal
// digits.
[[nodiscard]] std::string escape_text(std::string_view text);
// Reverses escape_text. Returns manifest_invalid for a text that escape_text never returns.
[[nodiscard]] Result<std::string> unescape_text(std::string_view escaped);

// Returns `text` with question marks instead of bytes that are not UTF-8 and of characters that
// could control a terminal or deceive a reader: control characters except tabs, line separators,
// and characters that Unicode allows displays to ignore (bidirectional controls, zero-width
// characters, fillers, variation selectors and tags). Letters of all scripts are unchanged.
[[nodiscard]] std::string printable(std::string_view text);
// Applies printable() to each line and keeps the line ends.
[[nodiscard]] std::string printable_lines(std::string_view text);
// Returns a JSON document with \u escapes instead of the characters that printable() replaces. The
// values are unchanged.
[[nodiscard]] std::string printable_json(std::string_view document);

// ---- Configuration files -----------------------------------------------------------------------

inline constexpr std::uint64_t k_max_configuration_bytes = 1U << 20U;

struct ConfigurationLine {
  std::size_t number = 0;        // from 1
  Result<std::string_view> text; // without blanks around it; not empty; or the error of check_line
};
// Returns the lines that are neither empty nor comments ('#'), and every line that check_line
// rejects. Ignores a byte order mark at the beginning of the text.
[[nodiscard]] std::vector<ConfigurationLine> configuration_lines(std::string_view text);

// Errors: invalid_argument, if a line, without its end, contains a control character other than the
// tab, a line separator (U+2028, U+2029) or bytes that are not UTF-8. Editors can show such a line
// as several lines, and whoever wrote it then sees settings that the reader does not.
[[nodiscard]] Result<void> check_line(std::string_view line);

struct ConfigurationSetting {
  std::string_view name;
  std::string_view value;
};
// Returns the parts of "NAME = VALUE". invalid_argument: there is no '='.
[[nodiscard]] Result<ConfigurationSetting> parse_setting(std::string_view line);

// Returns `text` without spaces and tabs around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Whether `text` contains a control character of ASCII other than a tab.
[[nodiscard]] bool has_control_character(std::string_view text);
// Returns the value of "1", "yes", "0" or "no"; std::nullopt for any other text.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);

// ---- Numbers -----------------------------------------------------------------------------------

// Removes the number that begins `text`. std::nullopt, and an unchanged text, if there is none or
// it is too large.
template <typename Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}
// Returns the number that `text` is; std::nullopt if it is none or too large.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  const auto number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}
// Returns the decimal number that `text` is, such as "-1.5e-3", in any locale; std::nullopt if it
// is none or too large.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);
// Returns a size in bytes: a number, which one of the letters K, M, G and T may follow.
// std::nullopt for any other text.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// ---- Build options, as clBuildProgram receives them --------------------------------------------

struct OptionWord {
  std::string_view text; // with its quotes and backslashes
  std::string_view space_before;
};
// Splits at white space of the C locale, but not within quotes. A backslash takes the special
// meaning of the next character. std::nullopt if a quote does not end.
[[nodiscard]] std::optional<std::vector<OptionWord>> split_option_words(std::string_view options);
// Splits at white space, also within quotes, for checks that must hold whatever a driver makes of
// quotes.
[[nodiscard]] std::vector<std::string_view> words_between_spaces(std::string_view options);
// Returns the extensions that -cl-ext=+NAME,-NAME,… among build options leave requested, in order.
[[nodiscard]] std::vector<std::string> requested_extensions(std::string_view options);
// Returns the text of a word without its quotes and backslashes.
[[nodiscard]] std::string without_quotes(std::string_view word);
// Returns whether the next word is the name of a macro: `word` is "-D" or "-U".
[[nodiscard]] inline bool awaits_macro(std::string_view word) noexcept {
  return word == "-D" || word == "-U";
}

} // namespace clbin::base
