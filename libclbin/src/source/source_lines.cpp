#include "source/source_lines.hpp"

#include <algorithm>

namespace clbin::source {

namespace {

struct LineEnd {
  std::size_t begin = 0;
  std::size_t end = 0; // equal to `begin` at the end of the text
};

LineEnd find_line_end(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view rest = text.substr(begin);
  const std::size_t size = rest.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, rest.size());
  return {begin, begin + size};
}

} // namespace

std::vector<std::string_view> source_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const LineEnd end = find_line_end(text);
    lines.push_back(text.substr(0, end.begin));
    text.remove_prefix(end.end);
  }
  return lines;
}

std::size_t count_line_ends(std::string_view text) {
  std::size_t count = 0;
  for (LineEnd end = find_line_end(text); end.end != end.begin; end = find_line_end(text)) {
    ++count;
    text.remove_prefix(end.end);
  }
  return count;
}

std::size_t after_hidden_line_end(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of(" \t\v\f", at);
  if (end == std::string_view::npos || (text[end] != '\n' && text[end] != '\r')) {
    return at;
  }
  const std::string_view pair = text.substr(end, 2);
  return end + (pair == "\r\n" || pair == "\n\r" ? 2 : 1);
}

} // namespace clbin::source
