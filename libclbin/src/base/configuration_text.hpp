// The lines of configuration files: "NAME = VALUE", comments after '#', and whatever else a reader
// understands. Pure functions; every text is accepted.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace clbin::base {

inline constexpr std::uint64_t k_max_configuration_bytes = 1U << 20U;

struct ConfigurationLine {
  std::size_t number = 0;        // from 1
  Result<std::string_view> text; // without white space around it; not empty
};
// Returns the lines that are neither empty nor comments. A line ends with "\n" or "\r\n". Ignores
// a byte order mark at the beginning of the text. The text of a line, even of a comment, is the
// error of check_line if there is one. The views refer to `text`.
[[nodiscard]] std::vector<ConfigurationLine> configuration_lines(std::string_view text);

// Errors: invalid_argument, if a line, without its end, contains a control character other than the
// tab, a line separator (U+2028, U+2029) or bytes that are not UTF-8. Editors can show such a line
// as several lines, and whoever wrote it then sees settings that the reader does not.
[[nodiscard]] Result<void> check_line(std::string_view line);

struct ConfigurationSetting {
  std::string_view name;
  std::string_view value;
};
// Returns the parts of "NAME = VALUE". invalid_argument: there is no '='.
[[nodiscard]] Result<ConfigurationSetting> parse_setting(std::string_view line);

// Returns `text` without spaces and tabs around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Whether `text` contains a control character of ASCII other than a tab.
[[nodiscard]] bool has_control_character(std::string_view text);
// Returns the value of "1", "yes", "0" or "no"; std::nullopt for any other text.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);

} // namespace clbin::base
