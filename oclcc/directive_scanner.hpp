// Finds the preprocessor directives of a source text, without taking any branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Bytes [begin, end) of the text scanned.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class IncludeForm : std::uint8_t {
  quoted, // "name"
  angled, // <name>
  macro,  // #include NAME
};

// #include, and __has_include where it asks for a quoted or angled name.
struct IncludeDirective {
  IncludeForm form = IncludeForm::quoted;
  std::string name; // without its quotes
  TextRange token;  // the name with its quotes, as it stands in the text
};

// #define NAME value; those with parameters are left out.
struct MacroDefinition {
  std::string name;
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

} // namespace oclcc
