// Reads source text so that no compiler finds a directive that this reader misses.
//
// Compilers disagree about comments, strings and ends of lines (raw strings, digit separators,
// unterminated literals, blanks after a backslash). This reader does not decide between them: it
// treats every position as code, and finds too much rather than too little.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clbin::source {

// Returns the text as clang reads it, without the characters that compilers read differently.
// Trigraphs are replaced by their characters, a carriage return without a line feed by a line feed,
// and a zero byte by a space. Blanks between a backslash and the end of its line are removed. Line
// numbers do not change.
[[nodiscard]] std::string normalized(std::string_view text);

// A word and its end in the text. `word` does not contain the line continuations within it.
struct LenientWord {
  std::string word; // empty if there is none, or if it is longer than any relevant word
  std::size_t end = 0;
};

// A view of normalized text, which must outlive it. Each call takes constant time.
class LenientText {
public:
  explicit LenientText(std::string_view text) : m_text(text) {}

  [[nodiscard]] std::string_view text() const { return m_text; }
  [[nodiscard]] bool is_at(std::size_t at, char c) const {
    return at < m_text.size() && m_text[at] == c;
  }
  // Returns true if a word may begin at `at`.
  [[nodiscard]] bool is_word_start(std::size_t at) const;
  [[nodiscard]] LenientWord word_at(std::size_t at) const;
  // Returns the position after "#" or "%:" at `at`; `at` itself if there is neither.
  [[nodiscard]] std::size_t after_hash(std::size_t at) const;
  // Returns the position after the blanks, line continuations and block comments that begin at
  // `at`. Blanks are all control characters except the line feed, and all non-ASCII bytes. Returns
  // std::string_view::npos if they exceed k_max_gap bytes, which does not occur in programs in use
  // at the positions queried.
  [[nodiscard]] std::size_t after_gap(std::size_t at) const;
  static constexpr std::size_t k_max_gap = 512;

  // Returns the position after the line continuations that begin at `at`.
  [[nodiscard]] std::size_t after_splices(std::size_t at) const;

private:
  [[nodiscard]] std::size_t after_splice(std::size_t at) const;
  // Returns the position after a comment that begins at `at`; `at` itself if there is none; npos if
  // the comment ends after `limit`.
  [[nodiscard]] std::size_t after_comment(std::size_t at, std::size_t limit) const;

  std::string_view m_text;
};

} // namespace clbin::source
