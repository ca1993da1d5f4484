#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::source {

// Returns the size of the identifier or number, string with its quotes, or other character that
// begins the text, which is not empty. A string without an end ends with its line.
[[nodiscard]] std::size_t word_bytes(std::string_view text);

// Reads a text word by word, without comments and directives. Conditions are not evaluated. Borrows
// the text. Safe on any text, in linear time.
class Words {
public:
  explicit Words(std::string_view text) : m_rest(text) {}

  // Returns the next word (word_bytes) as a part of the text; empty at the end.
  [[nodiscard]] std::string_view next();
  // Skips what follows up to the parenthesis that closes the first one.
  void skip_parentheses();
  // Those before the last word, in order, each with its continued lines.
  [[nodiscard]] const std::vector<std::string_view>& directives() const noexcept {
    return m_directives;
  }

private:
  void skip_to(std::string_view end, std::size_t from);
  void skip_directive();
  void skip_blanks();

  std::string_view m_rest;
  std::vector<std::string_view> m_directives;
  bool m_is_line_begin = true;
};

// Returns the text with a space for each character of the functions of these names, at the top
// level of the text: their definitions and declarations, from the end of what precedes them.
// Directives and line ends stay, so that macros, conditions and line numbers are the same. A
// function stays if its name occurs anywhere else in what is left, also in a directive, but not in
// comments and strings. Conditions are not evaluated.
//
// A text in which the braces of a function differ between the branches of a condition can lose more
// than the function: the caller checks that what it needs is still there. Safe on any text.
[[nodiscard]] std::string without_functions(std::string_view text,
                                            const std::set<std::string>& names);

} // namespace clbin::source
