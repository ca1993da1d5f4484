#include "command_line/make_spelling.hpp"

#include <cstddef>

namespace oclcc {

std::string escape_for_make(std::string_view path) {
  std::string result;
  std::size_t backslashes = 0; // those at the end of `result`, from the path
  for (const char c : path) {
    if (c == ' ' || c == '\t') {
      // make parses backslashes as escapes of each other only before white space.
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
