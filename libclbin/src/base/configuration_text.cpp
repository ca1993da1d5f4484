#include "base/configuration_text.hpp"

#include "base/printable_text.hpp"

#include <algorithm>

namespace clbin::base {

namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

bool is_control_value(char32_t value) noexcept {
  return (value < 0x20 && value != '\t') || (value >= 0x7F && value <= 0x9F);
}

bool is_line_separator(char32_t value) noexcept {
  return value == 0x2028 || value == 0x2029;
}

} // namespace

Result<void> check_line(std::string_view line) {
  while (!line.empty()) {
    const auto [value, size_bytes] = first_character(line);
    if (value == k_no_character) {
      return fail(ErrorCode::invalid_argument,
                  "the line contains the byte 0x{:02X}, which is not UTF-8",
                  static_cast<unsigned char>(line.front()));
    }
    if (is_control_value(value) || is_line_separator(value)) {
      return fail(ErrorCode::invalid_argument, "the line contains the {} U+{:04X}",
                  is_control_value(value) ? "control character" : "line separator",
                  static_cast<std::uint32_t>(value));
    }
    line.remove_prefix(size_bytes);
  }
  return {};
}

std::vector<ConfigurationLine> configuration_lines(std::string_view text) {
  if (text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  std::vector<ConfigurationLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view whole = text.substr(0, text.find('\n'));
    const bool has_end = whole.size() < text.size();
    text.remove_prefix(whole.size() + (has_end ? 1 : 0));
    if (has_end && whole.ends_with('\r')) {
      whole.remove_suffix(1);
    }
    const std::string_view line = without_blanks(whole);
    if (const auto checked = check_line(line); !checked.has_value()) {
      lines.push_back({number, tl::unexpected(checked.error())});
    } else if (!line.empty() && line.front() != '#') {
      lines.push_back({number, line});
    }
  }
  return lines;
}

Result<ConfigurationSetting> parse_setting(std::string_view line) {
  const std::size_t sign = line.find('=');
  if (sign == std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, "expected 'NAME = VALUE'");
  }
  return ConfigurationSetting{without_blanks(line.substr(0, sign)),
                              without_blanks(line.substr(sign + 1))};
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view k_blanks = " \t";
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(k_blanks) - begin + 1);
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char byte) {
    const auto number = static_cast<unsigned char>(byte);
    return (number < 0x20 && byte != '\t') || number == 0x7F;
  });
}

std::optional<bool> parse_switch(std::string_view text) {
  if (text == "1" || text == "yes") {
    return true;
  }
  if (text == "0" || text == "no") {
    return false;
  }
  return std::nullopt;
}

} // namespace clbin::base
