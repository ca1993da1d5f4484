// Build options that the configuration appends or replaces for some programs.
#pragma once

#include "layer/layer_settings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clbin::layer {

// The names by which rules choose a program.
struct RuledProgram {
  std::string_view digest; // 64 hexadecimal digits
  std::string_view text;   // empty for IL
};

// Returns the options with every matching rule applied, in the order of the rules. A rule for a
// kernel matches a program whose text contains the kernel's name as a whole word.
[[nodiscard]] std::string apply_rules(const std::vector<OptionRule>& rules,
                                      const RuledProgram& program, std::string_view options);

} // namespace clbin::layer
