// Finds all preprocessor directives of a source text without evaluating conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::source {

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
// that end with CR LF or CR (see source_lines.hpp). Safe on any text.
[[nodiscard]] Directives scan_directives(std::string_view text);

// Parses the whole of `text` as #include does: "name" or <name>; otherwise `form` is macro. `token`
// is a range of `text`.
[[nodiscard]] IncludeDirective parse_header_name(std::string_view text);

} // namespace clbin::source
