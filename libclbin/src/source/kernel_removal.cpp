#include "source/kernel_removal.hpp"

#include "source/directive_scanner.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

namespace clbin::source {

namespace {

struct TextToken {
  std::string_view text; // an identifier, a string, or one other character
  std::size_t begin = 0; // in the whole text
};

// Reads a text without its comments.
class TextTokenizer {
public:
  explicit TextTokenizer(std::string_view text) : m_text(text) {}

  void run() {
    while (m_at < m_text.size()) {
      if (!skip()) {
        take();
      }
    }
  }

  std::vector<TextToken> tokens;
  std::vector<std::string_view> directives;

private:
  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = m_text.find(end, from);
    m_at = found == std::string_view::npos ? m_text.size() : found + end.size();
  }

  // A backslash continues the line.
  void take_directive() {
    const std::size_t begin = m_at;
    do {
      skip_past("\n", m_at);
    } while (m_at < m_text.size() && m_at >= 2 &&
             (m_text[m_at - 2] == '\\' || m_text.substr(0, m_at).ends_with("\\\r\n")));
    directives.push_back(m_text.substr(begin, m_at - begin));
    m_is_line_begin = true;
  }

  void take_string(char quote) {
    const std::size_t begin = m_at;
    for (++m_at; m_at < m_text.size() && m_text[m_at] != quote && m_text[m_at] != '\n'; ++m_at) {
      m_at += m_text[m_at] == '\\' ? 1 : 0;
    }
    m_at = std::min(m_at + 1, m_text.size());
    tokens.push_back({m_text.substr(begin, m_at - begin), begin});
  }

  // Skips what is no token; returns whether there was something.
  bool skip() {
    const char c = m_text[m_at];
    const std::string_view rest = m_text.substr(m_at);
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      m_is_line_begin |= c == '\n';
      ++m_at;
    } else if (rest.starts_with("//")) {
      skip_past("\n", m_at);
      m_is_line_begin = true;
    } else if (rest.starts_with("/*")) {
      skip_past("*/", m_at + 2);
    } else if (c == '#' && m_is_line_begin) {
      take_directive();
    } else {
      return false;
    }
    return true;
  }

  void take() {
    m_is_line_begin = false;
    if (const char c = m_text[m_at]; c == '"' || c == '\'') {
      take_string(c);
      return;
    }
    const std::string_view rest = m_text.substr(m_at);
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_identifier);
    const std::size_t size = std::max<std::size_t>(static_cast<std::size_t>(end - rest.begin()), 1);
    tokens.push_back({rest.substr(0, size), m_at});
    m_at += size;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  bool m_is_line_begin = true;
};

// Returns the index after the token that closes the one at `open`; the number of tokens if none
// does.
std::size_t after_closing(const std::vector<TextToken>& tokens, std::size_t open,
                          std::string_view opening, std::string_view closing) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].text == opening ? 1 : 0;
    depth -= tokens[i].text == closing ? 1 : 0;
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
std::multimap<std::string_view, TokenRange> find_functions(const std::vector<TextToken>& tokens,
                                                           const std::set<std::string>& names) {
  std::multimap<std::string_view, TokenRange> found;
  std::size_t begin = 0; // of what is declared
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view text = tokens[i].text;
    if (text == "{") {
      i = after_closing(tokens, i, "{", "}");
      begin = i;
    } else if (text == ";") {
      begin = ++i;
    } else if (i + 1 < tokens.size() && tokens[i + 1].text == "(" &&
               names.contains(std::string(text))) {
      const std::size_t after = after_closing(tokens, i + 1, "(", ")");
      const std::string_view next = after < tokens.size() ? tokens[after].text : "";
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
std::unordered_map<std::string_view, std::size_t> count_identifiers(const TextTokenizer& read) {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const TextToken& token : read.tokens) {
    ++counts[token.text];
  }
  for (std::string_view rest : read.directives) {
    while (!rest.empty()) {
      const auto end = std::find_if_not(rest.begin(), rest.end(), is_identifier);
      const auto size = static_cast<std::size_t>(end - rest.begin());
      ++counts[rest.substr(0, size)];
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  }
  return counts;
}

// Blanks the functions without other uses of `text` in `result`, a copy of it.
void remove_unused(std::string_view text, const std::set<std::string>& names, std::string& result) {
  TextTokenizer read(text);
  read.run();
  const std::vector<TextToken>& tokens = read.tokens;
  const auto found = find_functions(tokens, names);
  const auto counts = count_identifiers(read);
  for (const auto& [name, range] : found) {
    if (counts.at(name) != found.count(name)) {
      continue;
    }
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto begin = result.begin() + static_cast<std::ptrdiff_t>(tokens[i].begin);
      const auto end = begin + static_cast<std::ptrdiff_t>(tokens[i].text.size());
      std::replace_if(
          begin, end, [](char c) { return c != '\n'; }, ' ');
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
