// Finds all preprocessor directives of a source text without evaluating conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::source {

// Whether a character of ASCII can begin, or continue, an identifier.
[[nodiscard]] constexpr bool is_identifier_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_identifier(char c) noexcept {
  return is_identifier_start(c) || (c >= '0' && c <= '9');
}

// Bytes [begin, end) of the scanned text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class IncludeForm : std::uint8_t {
  quoted, // "name"
  angled, // <name>
  macro,  // #include NAME, #include NAME(x)
};

// The start of the search for the header.
enum class IncludeStart : std::uint8_t {
  first, // #include, #import, __has_include
  next,  // #include_next, __has_include_next: after the directory of the including file
};

// #include or __has_include, which also makes the driver search for a header.
struct IncludeDirective {
  IncludeForm form = IncludeForm::quoted;
  IncludeStart start = IncludeStart::first;
  std::string name;  // without quotes; macro: the text to expand
  TextRange token;   // the name with its quotes in the text
  TextRange keyword; // "include_next", "__has_include"
};

// #define NAME value, #define NAME(parameters) value.
struct MacroDefinition {
  std::string name;
  std::optional<std::string> parameters;
  std::string value; // with one space for each comment, as the preprocessor sees it
  TextRange token;   // the value in the text; empty if there is none
};

// #line N "file", or # N "file".
struct LineDirective {
  std::uint32_t physical_line = 0; // where the directive ends, from 1
  std::size_t end = 0;             // the offset in the text at which it ends
  std::uint32_t next_line = 0;     // the number of the next line
  std::string file;                // empty if unchanged
};

struct Directives {
  std::vector<IncludeDirective> includes;
  std::vector<MacroDefinition> macros;
  std::vector<LineDirective> lines;
  std::vector<std::uint32_t> embed_lines; // where each #embed begins, from 1
};

// Handles comments, string and character literals, line continuations, a byte order mark, and lines
// that end with CR LF or CR. Safe on any text.
[[nodiscard]] Directives scan_directives(std::string_view text);

// Parses the whole of `text` as #include does: "name" or <name>; otherwise `form` is macro. `token`
// is a range of `text`.
[[nodiscard]] IncludeDirective parse_header_name(std::string_view text);

// ---- Lines as clang counts them: each ends with LF, CR LF or CR alone --------------------------

// Returns the lines without their ends. A line end at the end of the text starts no further line.
// The views refer to `text`.
[[nodiscard]] std::vector<std::string_view> source_lines(std::string_view text);

[[nodiscard]] std::size_t count_line_ends(std::string_view text);

// `at` is the position after a backslash. Returns the position after the end of a line that the
// backslash hides, with the blanks before it, which gcc and clang permit; `at` itself if it hides
// none. Like clang, takes LF CR for one end of a line here, although clang counts two lines.
[[nodiscard]] std::size_t after_hidden_line_end(std::string_view text, std::size_t at);

} // namespace clbin::source
