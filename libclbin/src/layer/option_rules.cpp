#include "layer/option_rules.hpp"

#include <algorithm>

namespace clbin::layer {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (begins && (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

bool matches(const OptionRule& rule, const RuledProgram& program) {
  return rule.subject == OptionRule::Subject::program ? program.digest.starts_with(rule.name)
                                                      : contains_word(program.text, rule.name);
}

} // namespace

std::string apply_rules(const std::vector<OptionRule>& rules, const RuledProgram& program,
                        std::string_view options) {
  std::string result(options);
  for (const OptionRule& rule : rules) {
    if (!matches(rule, program)) {
      continue;
    }
    if (rule.action == OptionRule::Action::replace) {
      result = rule.options;
    } else {
      result += (result.empty() || rule.options.empty() ? "" : " ") + rule.options;
    }
  }
  return result;
}

} // namespace clbin::layer
