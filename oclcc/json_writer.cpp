#include "json_writer.hpp"

#include <fmt/core.h>

namespace oclcc {

namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD"; // U+FFFD

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 sequence that starts at `at`; 0 when it is none (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80U) {
    return 1;
  }
  std::size_t length = 0;
  if (first >= 0xC2U && first <= 0xDFU) {
    length = 2;
  } else if (first >= 0xE0U && first <= 0xEFU) {
    length = 3;
  } else if (first >= 0xF0U && first <= 0xF4U) {
    length = 4;
  } else {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text, at + i)) {
      return 0;
    }
  }
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const bool overlong = (first == 0xE0U && second < 0xA0U) || (first == 0xF0U && second < 0x90U);
  const bool surrogate = first == 0xEDU && second > 0x9FU;
  const bool beyond_unicode = first == 0xF4U && second > 0x8FU;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

std::string escape(char letter) {
  switch (letter) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\n':
    return "\\n";
  case '\t':
    return "\\t";
  default:
    break;
  }
  const auto value = static_cast<unsigned char>(letter);
  return value < 0x20U || value == 0x7FU ? fmt::format("\\u{:04x}", value) : std::string(1, letter);
}

} // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 1) {
      quoted += escape(text[at]);
    } else {
      quoted += length == 0 ? k_replacement : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return quoted + "\"";
}

void JsonWriter::start_member(std::string_view name) {
  m_text += m_first ? "" : ",";
  m_text += m_indent.empty() ? "" : "\n" + m_indent;
  m_first = false;
  if (!name.empty()) {
    m_text += json_string(name) + ": ";
  }
}

void JsonWriter::begin(std::string_view name, char bracket) {
  start_member(name);
  m_text += bracket;
  m_indent += "  ";
  m_first = true;
}

void JsonWriter::end(char bracket) {
  m_indent.resize(m_indent.size() - 2);
  m_text += m_first ? "" : "\n" + m_indent;
  m_text += bracket;
  m_first = false;
}

void JsonWriter::text(std::string_view name, std::string_view value) {
  start_member(name);
  m_text += json_string(value);
}

void JsonWriter::number(std::string_view name, std::uint64_t value) {
  start_member(name);
  m_text += std::to_string(value);
}

void JsonWriter::boolean(std::string_view name, bool value) {
  start_member(name);
  m_text += value ? "true" : "false";
}

void JsonWriter::null(std::string_view name) {
  start_member(name);
  m_text += "null";
}

std::string JsonWriter::take() && {
  return std::move(m_text) + "\n";
}

} // namespace oclcc
