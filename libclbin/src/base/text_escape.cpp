#include "base/text_escape.hpp"

#include <array>
#include <cstdint>

namespace clbin::base {

namespace {

constexpr char k_escape = '\x10';
constexpr std::size_t k_escaped_bytes = 3;
constexpr std::string_view k_escape_digits = "0123456789abcdef";

std::uint8_t byte_at(std::string_view text, std::size_t offset) noexcept {
  return static_cast<std::uint8_t>(text[offset]);
}

// Encodings of a character that begin with a byte of this range (RFC 3629, section 4): the number
// of bytes and the range of the second one, which excludes overlong forms, surrogates and numbers
// above U+10FFFF.
struct Utf8Rule {
  std::uint8_t first_low;
  std::uint8_t first_high;
  std::uint8_t size_bytes;
  std::uint8_t second_low;
  std::uint8_t second_high;
};
constexpr std::array<Utf8Rule, 9> k_utf8_rules{{
    {0x00, 0x7f, 1, 0x00, 0x00},
    {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
}};

bool matches(const Utf8Rule& rule, std::string_view text) noexcept {
  if (byte_at(text, 0) < rule.first_low || byte_at(text, 0) > rule.first_high ||
      text.size() < rule.size_bytes) {
    return false;
  }
  for (std::size_t i = 1; i < rule.size_bytes; ++i) {
    const std::uint8_t low = i == 1 ? rule.second_low : std::uint8_t{0x80};
    const std::uint8_t high = i == 1 ? rule.second_high : std::uint8_t{0xbf};
    if (byte_at(text, i) < low || byte_at(text, i) > high) {
      return false;
    }
  }
  return true;
}

} // namespace

std::size_t character_bytes(std::string_view text) noexcept {
  for (const Utf8Rule& rule : k_utf8_rules) {
    if (matches(rule, text)) {
      return rule.size_bytes;
    }
  }
  return 0;
}

std::string escape_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = text.front() == k_escape ? 0 : character_bytes(text);
    if (size == 0) {
      escaped.push_back(k_escape);
      escaped.push_back(k_escape_digits[byte_at(text, 0) >> 4U]);
      escaped.push_back(k_escape_digits[byte_at(text, 0) & 0x0fU]);
      text.remove_prefix(1);
    } else {
      escaped.append(text.substr(0, size));
      text.remove_prefix(size);
    }
  }
  return escaped;
}

Result<std::string> unescape_text(std::string_view escaped) {
  const std::string_view whole = escaped;
  std::string text;
  text.reserve(escaped.size());
  while (!escaped.empty()) {
    if (escaped.front() != k_escape) {
      text.push_back(escaped.front());
      escaped.remove_prefix(1);
      continue;
    }
    const std::size_t high =
        escaped.size() > 1 ? k_escape_digits.find(escaped[1]) : std::string::npos;
    const std::size_t low =
        escaped.size() > 2 ? k_escape_digits.find(escaped[2]) : std::string::npos;
    if (high == std::string::npos || low == std::string::npos) {
      return fail(ErrorCode::manifest_invalid, "U+0010 is not followed by two hexadecimal digits");
    }
    text.push_back(static_cast<char>((high << 4U) | low));
    escaped.remove_prefix(k_escaped_bytes);
  }
  // Each text has exactly one escaped form: unnecessary escapes and invalid UTF-8 are rejected.
  if (escape_text(text) != whole) {
    return fail(ErrorCode::manifest_invalid,
                "a character is escaped unnecessarily, or is not valid UTF-8");
  }
  return text;
}

} // namespace clbin::base
