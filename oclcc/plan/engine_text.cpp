#include "plan/engine_text.hpp"

#include "terminal/shell_quoting.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc::plan {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

Result<void> require_one_line(std::string_view text) {
  if (text.find_first_of("\n\r") == std::string_view::npos) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              "only a plan of '--plan=json' can contain a line break, which is in '{}'",
              printable(text));
}

std::string with_escapes(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    escaped += special.find(c) == std::string_view::npos ? "" : "$";
    escaped += c;
  }
  return escaped;
}

// Ninja has no escape for it before 1.12, but expands variables in names.
std::string with_pipes(std::string_view text) {
  std::string expanded;
  for (const char c : text) {
    expanded += c == '|' ? std::string("${pipe}") : std::string(1, c);
  }
  return expanded;
}

} // namespace

Result<std::string> shell_word(std::string_view word) {
  CLBIN_TRY(require_one_line(word));
  return quote_for_shell(word);
}

Result<std::string> shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    CLBIN_TRY_ASSIGN(const std::string quoted, shell_word(word));
    text += " " + quoted;
  }
  return text;
}

std::string ninja_value(std::string_view text) {
  return with_escapes(text, "$");
}

Result<std::string> ninja_path(std::string_view path) {
  CLBIN_TRY(require_one_line(path));
  return with_pipes(with_escapes(path, "$ :"));
}

} // namespace oclcc::plan
