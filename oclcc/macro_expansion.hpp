// What a text may become when its macros are expanded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// One definition. Without parameters: #define NAME text; else #define NAME(a, b) text, where "..."
// is the last of a variadic one's.
struct MacroValue {
  std::optional<std::vector<std::string>> parameters;
  std::string text;

  friend bool operator<(const MacroValue& a, const MacroValue& b) {
    return a.text != b.text ? a.text < b.text : a.parameters < b.parameters;
  }
};

// Every value that a macro may have: no branch is taken, so one name may have several.
using MacroTable = std::map<std::string, std::set<MacroValue>>;

struct MacroExpansion {
  std::set<std::string> texts;  // white space is one space
  std::set<std::string> macros; // those that were expanded
};

// `text` under every choice of values, each macro having one throughout; with arguments, # and ##
// as C11, 6.10.3, has them. __FILE__ is `file_name`. Safe on any text: what takes more than a
// thousand choices, or twenty thousand steps, is given up there.
[[nodiscard]] MacroExpansion expand_macros(std::string_view text, const MacroTable& macros,
                                           const std::string& file_name);

// "a, b" between the parentheses of a definition.
[[nodiscard]] std::vector<std::string> split_parameters(std::string_view text);

} // namespace oclcc
