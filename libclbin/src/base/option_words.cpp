#include "base/option_words.hpp"

#include <algorithm>

namespace clbin::base {
namespace {

// White space of the C locale, which is what a driver may treat as white space.
constexpr std::string_view k_space = " \t\n\v\f\r";

bool ends_option_word(char c) {
  return k_space.find(c) != std::string_view::npos;
}

// Returns the end of the word at `begin`; npos if a quote in it does not end.
std::size_t end_of_option_word(std::string_view text, std::size_t begin) {
  char quote = '\0';
  std::size_t at = begin;
  for (; at < text.size() && (quote != '\0' || !ends_option_word(text[at])); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (quote != '\0') {
      quote = text[at] == quote ? '\0' : quote;
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    }
  }
  return quote == '\0' ? std::min(at, text.size()) : std::string_view::npos;
}

} // namespace

std::optional<std::vector<OptionWord>> split_option_words(std::string_view options) {
  std::vector<OptionWord> words;
  std::size_t end = 0;
  while (true) {
    const std::size_t begin = options.find_first_not_of(k_space, end);
    if (begin == std::string_view::npos) {
      return words;
    }
    const std::size_t next = end_of_option_word(options, begin);
    if (next == std::string_view::npos) {
      return std::nullopt;
    }
    words.push_back({options.substr(begin, next - begin), options.substr(end, begin - end)});
    end = next;
  }
}

std::vector<std::string_view> words_between_spaces(std::string_view options) {
  std::vector<std::string_view> words;
  std::size_t begin = options.find_first_not_of(k_space);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(options.find_first_of(k_space, begin), options.size());
    words.push_back(options.substr(begin, end - begin));
    begin = options.find_first_not_of(k_space, end);
  }
  return words;
}

std::string without_quotes(std::string_view word) {
  std::string text;
  char quote = '\0';
  for (std::size_t at = 0; at < word.size(); ++at) {
    const bool is_quote = word[at] == '"' || word[at] == '\'';
    if (word[at] == '\\' && at + 1 < word.size()) {
      text += word[++at];
    } else if (is_quote && (quote == '\0' || quote == word[at])) {
      quote = quote == '\0' ? word[at] : '\0';
    } else {
      text += word[at];
    }
  }
  return text;
}

bool awaits_macro(std::string_view word) noexcept {
  return word == "-D" || word == "-U";
}

} // namespace clbin::base
