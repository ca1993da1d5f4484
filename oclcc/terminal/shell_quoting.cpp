#include "terminal/shell_quoting.hpp"

#include "base/text_escape.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

namespace {

// $'…' of POSIX.1-2024: characters that a terminal must not receive are hexadecimal.
std::string quote_with_escapes(std::string_view word) {
  std::string quoted = "$'";
  while (!word.empty()) {
    const std::size_t size = std::max<std::size_t>(clbin::base::character_bytes(word), 1);
    const std::string_view character = word.substr(0, size);
    if (printable_lines(character) != character) {
      for (const char byte : character) {
        quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      quoted += character == "'" || character == "\\" ? "\\" : "";
      quoted += character;
    }
    word.remove_prefix(size);
  }
  return quoted + "'";
}

} // namespace

std::string in_single_quotes(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string quote_for_shell(std::string_view word) {
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(k_plain) == std::string_view::npos) {
    return std::string(word);
  }
  if (printable_lines(word) != word) {
    return quote_with_escapes(word);
  }
  return in_single_quotes(word);
}

} // namespace oclcc
