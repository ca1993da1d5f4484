#include "base/printable_text.hpp"

#include "base/text_escape.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/core.h>
#include <iterator>

namespace clbin::base {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Controls (C0, DEL, C1); Default_Ignorable_Code_Point of Unicode 15 (DerivedCoreProperties.txt);
// line and paragraph separators; interlinear annotation.
constexpr Range k_not_shown[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},  {0x061C, 0x061C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},  {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

template <std::size_t Count>
bool is_in(const Range (&ranges)[Count], char32_t value) {
  return std::any_of(std::begin(ranges), std::end(ranges), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

bool is_shown(char32_t value) {
  return value != k_no_character && !is_in(k_not_shown, value);
}

std::string json_escape(char32_t value) {
  constexpr char32_t k_first_of_pairs = 0x10000;
  if (value < k_first_of_pairs) {
    return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value));
  }
  const std::uint32_t rest = value - k_first_of_pairs;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
}

// The printable characters of ASCII at the start of `text`. Most text consists of them, and they
// need no table.
std::string_view plain_start(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// `text` with what `replace` returns for each character that is neither shown nor one of `kept`.
template <typename Replace>
std::string replacing(std::string_view text, std::string_view kept, const Replace& replace) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view plain = plain_start(text.substr(i));
    result += plain;
    i += plain.size();
    if (i == text.size()) {
      break;
    }
    const CodePoint point = first_character(text.substr(i));
    if (is_shown(point.value) || kept.find(text[i]) != std::string_view::npos) {
      result += text.substr(i, point.size_bytes);
    } else {
      result += replace(point.value);
    }
    i += point.size_bytes;
  }
  return result;
}

constexpr std::string_view k_tab = "\t";
constexpr std::string_view k_tab_and_line_end = "\t\n";

} // namespace

CodePoint first_character(std::string_view text) {
  const std::size_t length = character_bytes(text);
  if (length == 0) {
    return {k_no_character, 1};
  }
  const auto lead = static_cast<std::uint8_t>(text.front());
  char32_t value = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    value = (value << 6U) | (static_cast<std::uint8_t>(text[i]) & 0x3FU);
  }
  return {value, length};
}

std::string printable(std::string_view text) {
  return replacing(text, k_tab, [](char32_t) { return "?"; });
}

std::string printable_lines(std::string_view text) {
  return replacing(text, k_tab_and_line_end, [](char32_t) { return "?"; });
}

std::string printable_json(std::string_view document) {
  return replacing(document, k_tab_and_line_end, [](char32_t value) {
    return value == k_no_character ? std::string("?") : json_escape(value);
  });
}

} // namespace clbin::base
