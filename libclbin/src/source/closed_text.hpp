// Replaces directives and names in one text of a closed package; see source_closing.hpp.
//
// Compilers disagree about comments, strings and ends of lines (raw strings, digit separators,
// unterminated literals, blanks after a backslash). The reader does not decide between them: it
// treats every position as code, so that no compiler finds a directive that it misses.
#pragma once

#include "model/source.hpp"
#include "source/macro_expansion.hpp"

namespace clbin::source {

// Returns the text as clang reads it, without the characters that compilers read differently.
// Trigraphs are replaced by their characters, a carriage return without a line feed by a line feed,
// and a zero byte by a space. Blanks between a backslash and the end of its line are removed. Line
// numbers do not change.
[[nodiscard]] std::string normalized(std::string_view text);

// A word and its position in the text. `word` does not contain the line continuations within it.
struct LenientWord {
  std::size_t begin = 0; // std::string_view::npos after a gap that is too long
  std::string word;      // empty if there is none, or if it is longer than any relevant word
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
  // Returns the word after the gap at `at`.
  [[nodiscard]] LenientWord word_after_gap(std::size_t at) const;
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

// The macros of a package and of its build options, which resolve #include NAME. They are read on
// first use, because few programs need them.
class IncludedMacros {
public:
  // Macros of larger packages are not read, because they use several times the memory of the text.
  static constexpr std::size_t k_max_bytes = 4U << 20U;

  // `package` and `options` must outlive this object.
  IncludedMacros(const format::SourcePackage& package, std::string_view options)
      : m_package(package), m_options(options) {}

  // Returns the header name, without quotes, that `text` expands to; std::nullopt if it may expand
  // to none or to several, or if the expansion takes too long.
  [[nodiscard]] std::optional<std::string> only_name(const std::string& text);

private:
  void read_macros();

  const format::SourcePackage& m_package;
  std::string_view m_options;
  std::optional<MacroTable> m_macros;
  ExpansionBudget m_budget;
};

// The headers of a package: their original names and their names in the closed package.
class HeaderNames {
public:
  explicit HeaderNames(const format::SourcePackage& package);

  // Returns std::nullopt if the package has no such header, or if compilers may read the name
  // differently.
  [[nodiscard]] std::optional<std::string> closed_name(const std::string& name) const;
  [[nodiscard]] static std::string closed(const std::string& name);

private:
  std::map<std::string, std::string> m_closed; // also maps each closed name to itself
};

// "name" or <name> at `at`; std::nullopt if there is none, or one that cannot be a header of a
// package.
struct HeaderToken {
  std::string name;
  std::size_t end = 0;
};
[[nodiscard]] std::optional<HeaderToken> header_token_at(std::string_view text, std::size_t at);

// State that the texts of a package share.
struct ClosingState {
  const HeaderNames& names;
  IncludedMacros& macros;
  // Macros that are only ever defined as strings that name headers, and that no option defines.
  std::set<std::string> definitions;
  std::set<std::string> proved; // those of `definitions` that an #include names
  std::size_t long_errors = 0;  // #error lines that include the reason
};

// candidates: adds the macros that `text` defines as strings that name headers to
// `state.definitions`. others: removes those that it defines as anything else.
enum class DefinitionSweep : std::uint8_t { candidates, others };
void add_definitions(const LenientText& text, DefinitionSweep sweep, ClosingState& state);

// Returns the text after one pass; std::nullopt if nothing was replaced.
[[nodiscard]] std::optional<std::string> close_text(const LenientText& text, ClosingState& state);

} // namespace clbin::source
