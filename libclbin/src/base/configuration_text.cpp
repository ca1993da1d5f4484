#include "base/configuration_text.hpp"

#include <algorithm>

namespace clbin::base {

namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

} // namespace

std::vector<ConfigurationLine> configuration_lines(std::string_view text) {
  if (text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  std::vector<ConfigurationLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = without_blanks(whole);
    if (!line.empty() && line.front() != '#') {
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
  if (has_control_character(line)) {
    return fail(ErrorCode::invalid_argument, "the line contains a control character");
  }
  return ConfigurationSetting{without_blanks(line.substr(0, sign)),
                              without_blanks(line.substr(sign + 1))};
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\r";
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
