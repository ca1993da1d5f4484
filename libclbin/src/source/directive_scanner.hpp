// Finds the preprocessor directives of a source text, without taking any branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::source {

// Bytes [begin, end) of the text scanned.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class IncludeForm : std::uint8_t {
  quoted, // "name"
  angled, // <name>
  macro,  // #include NAME, #include NAME(x)
};

// Where the search for the header begins.
enum class IncludeStart : std::uint8_t {
  first, // #include, #import, __has_include
  next,  // #include_next, __has_include_next: behind the folder where this file was found
};

// #include, and __has_include, which makes the driver look for a header too.
struct IncludeDirective {
  IncludeForm form = IncludeForm::quoted;
  IncludeStart start = IncludeStart::first;
  std::string name;  // without its quotes; macro: the text to expand
  TextRange token;   // the name with its quotes, as it stands in the text
  TextRange keyword; // "include_next", "__has_include"
};

// #define NAME value, #define NAME(parameters) value.
struct MacroDefinition {
  std::string name;
  std::optional<std::string> parameters;
  std::string value; // comments are one space, as the preprocessor sees it
  TextRange token;   // the value, as it stands in the text; empty where there is none
};

// #line N "file", or # N "file".
struct LineDirective {
  std::uint32_t physical_line = 0; // where it ends, from 1
  std::uint32_t next_line = 0;     // the number of the line after it
  std::string file;                // empty: unchanged
};

struct Directives {
  std::vector<IncludeDirective> includes;
  std::vector<MacroDefinition> macros;
  std::vector<LineDirective> lines;
};

// Understands comments, string and character literals, line continuations and CR LF. Safe on any
// text.
[[nodiscard]] Directives scan_directives(std::string_view text);

// "name" or <name>, as an #include would read the whole of `text`; `form` is macro where it is
// neither. `token` is within `text`.
[[nodiscard]] IncludeDirective parse_header_name(std::string_view text);

} // namespace clbin::source
