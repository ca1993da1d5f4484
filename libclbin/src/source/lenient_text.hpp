// Reads source text so that no compiler finds a directive that this reader misses.
//
// Compilers differ in what they call a comment, a string or the end of a line (raw strings, digit
// separators, unterminated literals, blanks behind a backslash). This reader does not decide it: it
// takes any position for code, and finds too much rather than too little.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clbin::source {

// The text without what compilers read differently, as clang reads it: trigraphs are replaced by
// their characters, a carriage return without a line feed by a line feed, a zero byte by a space,
// and blanks between a backslash and the end of its line are gone. Lines keep their numbers.
[[nodiscard]] std::string normalized(std::string_view text);

// A word, and where it ends in the text. Continuations of lines within it are not part of `word`.
struct LenientWord {
  std::string word; // empty: there is none, or it is longer than any that matters
  std::size_t end = 0;
};

// Of normalized text, which must outlive it. Each call takes constant time.
class LenientText {
public:
  explicit LenientText(std::string_view text) : m_text(text) {}

  [[nodiscard]] std::string_view text() const { return m_text; }
  [[nodiscard]] bool is_at(std::size_t at, char c) const {
    return at < m_text.size() && m_text[at] == c;
  }
  // Whether a word may begin at `at`.
  [[nodiscard]] bool is_word_start(std::size_t at) const;
  [[nodiscard]] LenientWord word_at(std::size_t at) const;
  // Behind "#" or "%:" at `at`; `at` itself if there is neither.
  [[nodiscard]] std::size_t after_hash(std::size_t at) const;
  // Behind blanks, continuations of lines and block comments from `at` on. Blanks are all control
  // characters but the line feed, and all bytes that are not ASCII. std::string_view::npos if they
  // are more than k_max_gap bytes, which no program in use has where this is asked.
  [[nodiscard]] std::size_t after_gap(std::size_t at) const;
  static constexpr std::size_t k_max_gap = 512;

  // Behind continuations of lines from `at` on.
  [[nodiscard]] std::size_t after_splices(std::size_t at) const;

private:
  [[nodiscard]] std::size_t after_splice(std::size_t at) const;
  // Behind a comment that begins at `at`; `at` itself if none does; npos if it ends behind `limit`.
  [[nodiscard]] std::size_t after_comment(std::size_t at, std::size_t limit) const;

  std::string_view m_text;
};

} // namespace clbin::source
