#include "offline/option_rules.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

bool is_common(std::string_view option) {
  return option.starts_with("-D") || option.starts_with("-U") || option == "-w" ||
         option == "-Werror";
}

bool matches(const OptionRule& rule, std::string_view option) {
  return rule.option.ends_with('=') ? option.starts_with(rule.option) : option == rule.option;
}

} // namespace

Result<CompilerWords> compiler_words(const std::vector<std::string>& options,
                                     std::span<const OptionRule> rules, std::string_view target) {
  CompilerWords result;
  for (const std::string& option : options) {
    if (is_common(option)) {
      result.words.push_back(option);
      continue;
    }
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const OptionRule& one) { return matches(one, option); });
    if (rule == rules.end()) {
      return fail(ErrorCode::invalid_argument, "its compiler does not know the option '{}'",
                  option);
    }
    switch (rule->effect) {
    case OptionEffect::pass:
      if (rule->words.empty()) {
        result.words.push_back(option);
      } else {
        result.words.insert(result.words.end(), rule->words.begin(), rule->words.end());
      }
      break;
    case OptionEffect::ignore:
      break;
    case OptionEffect::warn:
      result.warnings.push_back(fmt::format("'{}' has no effect on '{}'", option, target));
      break;
    case OptionEffect::refuse:
      return fail(ErrorCode::invalid_argument, "'{}' is not supported", option);
    }
  }
  return result;
}

} // namespace oclcc::offline
