#include "source/words.hpp"

#include "source/directive_scanner.hpp"

#include <algorithm>

namespace clbin::source {

std::size_t word_bytes(std::string_view text) {
  const char quote = text.front();
  if (quote != '"' && quote != '\'') {
    const auto end = std::ranges::find_if_not(text, is_identifier);
    return std::max<std::size_t>(static_cast<std::size_t>(end - text.begin()), 1);
  }
  std::size_t at = 1;
  while (at < text.size() && text[at] != quote && text[at] != '\n') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

std::string_view Words::next() {
  skip_blanks();
  const std::string_view taken = m_rest.substr(0, m_rest.empty() ? 0 : word_bytes(m_rest));
  m_rest.remove_prefix(taken.size());
  m_is_line_begin = false;
  return taken;
}

void Words::skip_parentheses() {
  int depth = 0;
  for (std::string_view word = next(); !word.empty(); word = next()) {
    depth += word == "(" ? 1 : 0;
    depth -= word == ")" ? 1 : 0;
    if (depth <= 0) {
      return;
    }
  }
}

void Words::skip_to(std::string_view end, std::size_t from) {
  const std::size_t at = m_rest.find(end, from);
  m_rest.remove_prefix(at == std::string_view::npos ? m_rest.size() : at + end.size());
}

void Words::skip_directive() {
  const std::string_view begin = m_rest;
  std::string_view line;
  do {
    line = m_rest.substr(0, m_rest.find('\n'));
    m_rest.remove_prefix(std::min(line.size() + 1, m_rest.size()));
  } while (!m_rest.empty() && (line.ends_with('\\') || line.ends_with("\\\r")));
  m_directives.push_back(begin.substr(0, begin.size() - m_rest.size()));
}

void Words::skip_blanks() {
  constexpr std::string_view k_space = " \t\n\v\f\r";
  while (!m_rest.empty()) {
    if (k_space.find(m_rest.front()) != std::string_view::npos) {
      m_is_line_begin |= m_rest.front() == '\n';
      m_rest.remove_prefix(1);
    } else if (m_rest.starts_with("//")) {
      skip_to("\n", 0);
      m_is_line_begin = true;
    } else if (m_rest.starts_with("/*")) {
      skip_to("*/", 2);
    } else if (m_is_line_begin && m_rest.front() == '#') {
      skip_directive();
    } else {
      return;
    }
  }
}

} // namespace clbin::source
