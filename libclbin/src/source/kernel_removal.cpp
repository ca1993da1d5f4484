#include "source/words.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace clbin::source {

namespace {

// Returns the index after the token that closes the one at `open`; the number of tokens if none
// does.
std::size_t after_closing(const std::vector<std::string_view>& tokens, std::size_t open,
                          std::string_view opening, std::string_view closing) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i] == opening ? 1 : 0;
    depth -= tokens[i] == closing ? 1 : 0;
    if (depth == 0) {
      return i + 1;
    }
  }
  return tokens.size();
}

struct TokenRange {
  std::size_t begin = 0; // indices of tokens
  std::size_t end = 0;
};

// Where functions of these names are defined or declared.
std::multimap<std::string_view, TokenRange>
find_functions(const std::vector<std::string_view>& tokens, const std::set<std::string>& names) {
  std::multimap<std::string_view, TokenRange> found;
  std::size_t begin = 0; // of what is declared
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view text = tokens[i];
    if (text == "{") {
      i = after_closing(tokens, i, "{", "}");
      begin = i;
    } else if (text == ";") {
      begin = ++i;
    } else if (i + 1 < tokens.size() && tokens[i + 1] == "(" && names.contains(std::string(text))) {
      const std::size_t after = after_closing(tokens, i + 1, "(", ")");
      const std::string_view next = after < tokens.size() ? tokens[after] : "";
      const std::size_t end = next == "{"   ? after_closing(tokens, after, "{", "}")
                              : next == ";" ? after + 1
                                            : after;
      if (next == "{" || next == ";") {
        found.emplace(text, TokenRange{begin, end});
        begin = end;
      }
      i = end;
    } else {
      ++i;
    }
  }
  return found;
}

// How often each identifier occurs, also in directives.
std::unordered_map<std::string_view, std::size_t>
count_identifiers(const std::vector<std::string_view>& tokens,
                  const std::vector<std::string_view>& directives) {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const std::string_view token : tokens) {
    ++counts[token];
  }
  for (const std::string_view directive : directives) {
    Words words(directive.substr(1)); // without "#"
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      ++counts[word];
    }
  }
  return counts;
}

// Blanks the functions without other uses of `text` in `result`, a copy of it.
void remove_unused(std::string_view text, const std::set<std::string>& names, std::string& result) {
  Words words(text);
  std::vector<std::string_view> tokens;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    tokens.push_back(word);
  }
  const auto found = find_functions(tokens, names);
  const auto counts = count_identifiers(tokens, words.directives());
  for (const auto& [name, range] : found) {
    if (counts.at(name) != found.count(name)) {
      continue;
    }
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto begin = result.begin() + (tokens[i].data() - text.data());
      std::replace_if(
          begin, begin + static_cast<std::ptrdiff_t>(tokens[i].size()),
          [](char c) { return c != '\n'; }, ' ');
    }
  }
}

} // namespace

// A function that only a removed one uses has no use in what is left.
std::string without_functions(std::string_view text, const std::set<std::string>& names) {
  constexpr int k_longest_chain = 4; // takes linear time
  std::string before;
  std::string result(text);
  for (int i = 0; i < k_longest_chain && result != before; ++i) {
    before = result;
    remove_unused(before, names, result);
  }
  return result;
}

} // namespace clbin::source
