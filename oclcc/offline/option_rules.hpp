// What the options of OpenCL compilers mean to the compilers of an offline target.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

enum class OptionEffect : std::uint8_t {
  pass,   // to the compiler, in its own spelling
  ignore, // without a warning: it changes nothing that the target has
  warn,   // ignored with a warning
  refuse, // an error: ignoring it would give a wrong result
};

// One row of a family's table. `option` is a whole word, or ends in "=" and matches by its start.
struct OptionRule {
  std::string_view option;
  OptionEffect effect = OptionEffect::pass;
  std::vector<std::string> words{}; // passed instead of the option; empty for the option itself
};

inline constexpr std::string_view k_correct_rounding = "-cl-fp32-correctly-rounded-divide-sqrt";
inline constexpr std::string_view k_finite_math = "-cl-finite-math-only";
inline constexpr std::string_view k_flush_denormals = "-cl-denorms-are-zero";
inline constexpr std::string_view k_relaxed_math = "-cl-fast-relaxed-math";
inline constexpr std::string_view k_unsafe_math = "-cl-unsafe-math-optimizations";

struct CompilerWords {
  std::vector<std::string> words;
  std::vector<std::string> warnings; // "'-cl-opt-disable' has no effect on 'spirv:1.2'"
};

// Translates the words of recorded options by the rules; -D, -U, -w and -Werror are passed as they
// are. invalid_argument: a rule refuses the option, or no rule knows it.
[[nodiscard]] clbin::base::Result<CompilerWords>
compiler_words(const std::vector<std::string>& options, std::span<const OptionRule> rules,
               std::string_view target);

} // namespace oclcc::offline
