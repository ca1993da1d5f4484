#include "terminal/shell_quoting.hpp"

#include "terminal/terminal_text.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

// A part of a word, which is either shown in single quotes or named in octal.
struct Part {
  std::string_view text;
  bool is_shown = true;
};

// Returns the first part of `word`, which must not be empty.
Part first_part(std::string_view word) {
  Part part;
  std::size_t end = 0;
  while (end < word.size()) {
    const std::string_view rest = word.substr(end);
    const std::size_t size = std::max<std::size_t>(clbin::base::character_bytes(rest), 1);
    const std::string_view character = rest.substr(0, size);
    const bool is_shown = printable_lines(character) == character;
    if (end != 0 && is_shown != part.is_shown) {
      break;
    }
    part.is_shown = is_shown;
    end += size;
  }
  part.text = word.substr(0, end);
  return part;
}

// A command substitution removes line feeds at its end, but printable_lines shows those.
std::string in_octal(std::string_view text) {
  std::string quoted = "\"$(printf '";
  for (const char byte : text) {
    quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  }
  return quoted + "')\"";
}

} // namespace

std::string in_single_quotes(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string file_word(const std::filesystem::path& path) {
  const std::string name = path.string();
  const bool is_path = name == "-" || name.find_first_of("-@") != 0;
  return is_path ? name : "./" + name;
}

std::vector<std::string> option_words(std::string_view option, std::string_view value) {
  if (value.starts_with('@')) {
    return {fmt::format("{}={}", option, value)};
  }
  return {std::string(option), std::string(value)};
}

std::string quote_for_shell(std::string_view word) {
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(k_plain) == std::string_view::npos) {
    return std::string(word);
  }
  if (word.empty()) {
    return "''";
  }
  std::string quoted;
  while (!word.empty()) {
    const Part part = first_part(word);
    quoted += part.is_shown ? in_single_quotes(part.text) : in_octal(part.text);
    word.remove_prefix(part.text.size());
  }
  return quoted;
}

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
