#include "command_line/make_spelling.hpp"

#include <cstddef>

namespace oclcc {

std::string escape_for_make(std::string_view path) {
  std::string result;
  std::size_t backslashes = 0; // those that end `result` so far and stand in the path
  for (const char c : path) {
    if (c == ' ' || c == '\t') {
      // make takes backslashes before white space for escapes of each other, and only there.
      result.append(backslashes + 1, '\\');
    } else if (c == '#' || c == ':') {
      result += '\\';
    } else if (c == '$') {
      result += '$';
    }
    result += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return result;
}

} // namespace oclcc
