#include "source/lenient_text.hpp"

namespace clbin::source {

namespace {

constexpr std::size_t k_max_word = 40;
constexpr std::string_view k_trigraph_ends = "=/'()!<>-";
constexpr std::string_view k_trigraph_characters = "#\\^[]|{}~";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_gap_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c != '\n' && (byte <= ' ' || byte >= 0x7F);
}

char character_of_trigraph(std::string_view text) {
  if (!text.starts_with("??") || text.size() < 3) {
    return '\0';
  }
  const std::size_t index = k_trigraph_ends.find(text[2]);
  return index == std::string_view::npos ? '\0' : k_trigraph_characters[index];
}

// Phase 1: replaces each trigraph and each end of a line by one character.
std::string with_plain_characters(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char trigraph = character_of_trigraph(text.substr(i));
    const bool ends_line = text[i] == '\r' && !text.substr(i + 1).starts_with('\n');
    if (trigraph != '\0') {
      result += trigraph;
      i += 2;
    } else if (ends_line) {
      result += '\n';
    } else {
      result += text[i] == '\0' ? ' ' : text[i];
    }
  }
  return result;
}

// Phase 2, without joining lines.
std::string without_blanks_before_line_ends(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '\\') {
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_gap_blank(text[end])) {
      ++end;
    }
    if (end < text.size() && text[end] == '\n') {
      i = end - 1;
    }
  }
  return result;
}

} // namespace

std::string normalized(std::string_view text) {
  return without_blanks_before_line_ends(with_plain_characters(text));
}

bool LenientText::is_word_start(std::size_t at) const {
  return is_word_character(m_text[at]) && (at == 0 || !is_word_character(m_text[at - 1]));
}

std::size_t LenientText::after_splice(std::size_t at) const {
  return is_at(at, '\\') && is_at(at + 1, '\n') ? at + 2 : at;
}

std::size_t LenientText::after_splices(std::size_t at) const {
  for (std::size_t next = after_splice(at); next != at; next = after_splice(at)) {
    at = next;
  }
  return at;
}

LenientWord LenientText::word_at(std::size_t at) const {
  LenientWord result;
  result.end = at;
  for (std::size_t next = after_splices(at);
       next < m_text.size() && is_word_character(m_text[next]); next = after_splices(result.end)) {
    if (result.word.size() == k_max_word) {
      return {};
    }
    result.word += m_text[next];
    result.end = next + 1;
  }
  return result;
}

std::size_t LenientText::after_hash(std::size_t at) const {
  if (is_at(at, '#')) {
    return at + 1;
  }
  if (!is_at(at, '%')) {
    return at;
  }
  const std::size_t colon = after_splices(at + 1);
  return is_at(colon, ':') ? colon + 1 : at;
}

std::size_t LenientText::after_comment(std::size_t at, std::size_t limit) const {
  const std::size_t star = is_at(at, '/') ? after_splices(at + 1) : at;
  if (star == at || !is_at(star, '*')) {
    return at;
  }
  for (std::size_t i = star + 1; i < limit && i < m_text.size(); ++i) {
    const std::size_t slash = m_text[i] == '*' ? after_splices(i + 1) : i;
    if (slash != i && is_at(slash, '/')) {
      return slash + 1;
    }
  }
  // An unterminated comment hides the rest of the text from every compiler that recognizes it.
  return std::string_view::npos;
}

std::size_t LenientText::after_gap(std::size_t at) const {
  const std::size_t limit = at + k_max_gap;
  while (at < m_text.size() && at < limit) {
    if (is_gap_blank(m_text[at])) {
      ++at;
      continue;
    }
    const std::size_t spliced = after_splice(at);
    const std::size_t next = spliced != at ? spliced : after_comment(at, limit);
    if (next == at || next == std::string_view::npos) {
      return next;
    }
    at = next;
  }
  return at < limit ? at : std::string_view::npos;
}

} // namespace clbin::source
