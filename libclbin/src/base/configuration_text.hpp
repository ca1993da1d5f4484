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
  std::size_t number = 0; // from 1
  std::string_view text;  // without white space around it; not empty
};
// Returns the lines that are neither empty nor comments. Ignores a byte order mark. The views refer
// to `text`.
[[nodiscard]] std::vector<ConfigurationLine> configuration_lines(std::string_view text);

struct ConfigurationSetting {
  std::string_view name;
  std::string_view value;
};
// Returns the parts of "NAME = VALUE". invalid_argument: there is no '=', or a control character.
[[nodiscard]] Result<ConfigurationSetting> parse_setting(std::string_view line);

// Returns `text` without spaces, tabs and carriage returns around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Whether `text` contains a control character other than a tab.
[[nodiscard]] bool has_control_character(std::string_view text);
// Returns the value of "1", "yes", "0" or "no"; std::nullopt for any other text.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);

} // namespace clbin::base
