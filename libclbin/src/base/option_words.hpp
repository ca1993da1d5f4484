// Words of a text of build options, such as clBuildProgram receives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::base {

// A part of the text; borrowed.
struct OptionWord {
  std::string_view text; // with its quotes and backslashes
  std::string_view space_before;
};

// Splits at white space of the C locale, but not within quotes. A backslash takes the special
// meaning of the next character. std::nullopt if a quote does not end.
[[nodiscard]] std::optional<std::vector<OptionWord>> split_option_words(std::string_view options);

// Splits at white space, also within quotes, for checks that must hold whatever a driver makes of
// quotes. The words are borrowed.
[[nodiscard]] std::vector<std::string_view> words_between_spaces(std::string_view options);

// Returns the text of a word without its quotes and backslashes.
[[nodiscard]] std::string without_quotes(std::string_view word);

// Returns whether the next word is the name of a macro: `word` is "-D" or "-U".
[[nodiscard]] bool awaits_macro(std::string_view word) noexcept;

} // namespace clbin::base
