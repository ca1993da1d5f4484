#include "terminal/shell_quoting.hpp"

#include "terminal/terminal_text.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

// A command substitution removes line feeds at its end, but printable_lines shows those.
std::string in_octal(std::string_view text) {
  std::string quoted = "\"$(printf '";
  for (const char byte : text) {
    quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  }
  return quoted + "')\"";
}

constexpr std::string_view k_white_space = " \t\n\r\f\v";

// As in the shell, a backslash before an ordinary character is kept only inside double quotes.
bool backslash_escapes(char quote, char next) {
  return quote != '"' || next == '"' || next == '\\' || next == '$' || next == '`' || next == '\n';
}

std::string in_double_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

std::string quote_option(const std::string& word) {
  const std::size_t special = word.find_first_of(" \t\n\r\f\v\"'\\");
  if (!word.empty() && special == std::string::npos) {
    return word;
  }
  // -DNAME="a b" and not "-DNAME=a b": PoCL refuses the latter with -43 (measured).
  const std::size_t equals = word.find('=');
  const std::size_t quoted = equals < special ? equals + 1 : 0;
  return word.substr(0, quoted) + in_double_quotes(std::string_view(word).substr(quoted));
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
  std::string part; // of characters that are shown in single quotes, or else named in octal
  bool is_shown = true;
  const auto end_part = [&] {
    if (!part.empty()) {
      quoted += is_shown ? in_single_quotes(part) : in_octal(part);
    }
    part.clear();
  };
  while (!word.empty()) {
    const std::string_view character =
        word.substr(0, std::max<std::size_t>(clbin::base::character_bytes(word), 1));
    if ((printable_lines(character) == character) != is_shown) {
      end_part();
      is_shown = !is_shown;
    }
    part += character;
    word.remove_prefix(character.size());
  }
  end_part();
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

SplitWords split_words(std::string_view text) {
  SplitWords result;
  std::optional<std::string> word;
  char quote = '\0';
  const auto end_word = [&] {
    if (word) {
      result.words.push_back(*std::exchange(word, std::nullopt));
    }
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == '\\' && quote != '\'' && i + 1 < text.size() &&
                            backslash_escapes(quote, text[i + 1]);
    const char c = text[is_escaped ? ++i : i];
    if (is_escaped && c == '\n') {
      continue; // a line that goes on
    }
    if (quote == '\0' && !is_escaped && k_white_space.find(c) != std::string_view::npos) {
      end_word();
      continue;
    }
    if (!word) {
      word.emplace(); // "" is a word
    }
    if (!is_escaped && (quote == '\0' ? c == '"' || c == '\'' : c == quote)) {
      quote = quote == '\0' ? c : '\0';
    } else {
      *word += c;
    }
  }
  end_word();
  result.ends_within_quotes = quote != '\0';
  return result;
}

std::vector<std::string> split_options(std::string_view text) {
  return split_words(text).words;
}

std::string join_options(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) {
    result += (result.empty() ? "" : " ") + quote_option(word);
  }
  return result;
}

} // namespace oclcc
