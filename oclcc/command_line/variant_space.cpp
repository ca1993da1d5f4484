// --variants: every combination of values of macros that meets a condition, as a variant. The last
// macro changes first.
#include "command_line/options.hpp"
#include "command_line/size_expression.hpp"

#include "base/json_document.hpp"
#include "base/text.hpp"
#include "source/directive_scanner.hpp"
#include "terminal/shell_quoting.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

constexpr std::size_t k_max_combinations = 100'000;
constexpr std::size_t k_max_variants = 1000;

struct Axis {
  std::string macro;
  std::vector<std::string> values;
};

using Combination = std::vector<std::size_t>; // the number of the value of each axis

struct Condition {
  SizeExpression left;
  std::string_view sign;
  SizeExpression right;
};
// A sign before those that begin with it.
constexpr std::string_view k_signs[] = {"<=", ">=", "==", "!=", "<", ">"};

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, clbin::source::is_identifier);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

Result<Axis> parse_axis(const std::string& word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  Axis axis{word.substr(0, equals), split(word.substr(std::min(equals + 1, word.size())), ',')};
  if (!is_word(axis.macro) || !clbin::source::is_identifier_start(axis.macro[0]) ||
      !std::ranges::all_of(axis.values, is_word)) {
    return refused("'{}' is not MACRO=VALUE[,VALUE]..., of letters, digits and '_'",
                   base::printable_excerpt(word));
  }
  return axis;
}

Result<Condition> take_condition(std::string_view& text) {
  Condition condition;
  CLBIN_TRY_ASSIGN(condition.left, SizeExpression::take(text));
  for (const std::string_view sign : k_signs) {
    if (condition.sign.empty() && text.starts_with(sign)) {
      condition.sign = sign;
      text.remove_prefix(sign.size());
    }
  }
  if (condition.sign.empty()) {
    return refused("one of {} is missing behind '{}'", fmt::join(k_signs, " "),
                   condition.left.text());
  }
  CLBIN_TRY_ASSIGN(condition.right, SizeExpression::take(text));
  return condition;
}

Result<std::vector<Condition>> parse_conditions(std::string_view text) {
  constexpr std::string_view k_and = "and ";
  std::vector<Condition> conditions;
  for (;;) {
    CLBIN_TRY_ASSIGN(conditions.emplace_back(), take_condition(text));
    if (text.empty()) {
      return conditions;
    }
    if (!text.starts_with(k_and)) {
      return refused("'{}' follows a condition", base::printable_excerpt(text));
    }
    text.remove_prefix(k_and.size());
  }
}

bool holds(std::uint64_t left, std::string_view sign, std::uint64_t right) {
  switch (sign[0]) {
  case '<':
    return sign == "<" ? left < right : left <= right;
  case '>':
    return sign == ">" ? left > right : left >= right;
  default:
    return (left == right) == (sign == "==");
  }
}

Variant variant_of(const std::vector<Axis>& axes, const Combination& combination) {
  Variant variant;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& value = axes[i].values[combination[i]];
    variant.name += (i == 0 ? "" : "_") + axes[i].macro + value;
    variant.options.push_back("-D" + axes[i].macro + "=" + value);
  }
  return variant;
}

Result<bool> meets(const std::vector<Condition>& conditions, const std::vector<Axis>& axes,
                   const Combination& combination) {
  const auto value_of = [&](const std::string& name) -> std::optional<std::uint64_t> {
    const auto axis = std::ranges::find(axes, name, &Axis::macro);
    if (axis == axes.end()) {
      return std::nullopt;
    }
    const auto number = static_cast<std::size_t>(axis - axes.begin());
    return base::parse_number<std::uint64_t>(axis->values[combination[number]]);
  };
  for (const Condition& condition : conditions) {
    CLBIN_TRY_ASSIGN(const std::uint64_t left, condition.left.evaluate(value_of));
    CLBIN_TRY_ASSIGN(const std::uint64_t right, condition.right.evaluate(value_of));
    if (!holds(left, condition.sign, right)) {
      return false;
    }
  }
  return true;
}

// Returns whether there is another combination.
bool advance(Combination& combination, const std::vector<Axis>& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++combination[i] < axes[i].values.size()) {
      return true;
    }
    combination[i] = 0;
  }
  return false;
}

Result<std::vector<Axis>> parse_axes(std::string_view text) {
  std::vector<Axis> axes;
  std::size_t count = 1;
  for (const std::string& word : split_options(std::string(text))) {
    CLBIN_TRY_ASSIGN(Axis axis, parse_axis(word));
    if (std::ranges::find(axes, axis.macro, &Axis::macro) != axes.end()) {
      return refused("'{}' is given twice", axis.macro);
    }
    auto values = axis.values;
    std::ranges::sort(values);
    if (std::ranges::adjacent_find(values) != values.end()) {
      return refused("a value of '{}' is given twice", axis.macro);
    }
    count = std::min(count * axis.values.size(), k_max_combinations + 1);
    axes.push_back(std::move(axis));
  }
  if (axes.empty()) {
    return refused("it names no macro");
  }
  if (count > k_max_combinations) {
    return refused("it has more than {} combinations", k_max_combinations);
  }
  return axes;
}

Result<std::vector<Variant>> combine(std::string_view text) {
  constexpr std::string_view k_if = " if ";
  const std::size_t at = std::min(text.find(k_if), text.size());
  CLBIN_TRY_ASSIGN(const auto axes, parse_axes(text.substr(0, at)));
  std::vector<Condition> conditions;
  if (at < text.size()) {
    CLBIN_TRY_ASSIGN(conditions, parse_conditions(text.substr(at + k_if.size())));
  }
  std::vector<Variant> variants;
  Combination combination(axes.size());
  do {
    Variant variant = variant_of(axes, combination);
    CLBIN_TRY_ASSIGN(const bool is_met, base::in_context(meets(conditions, axes, combination),
                                                         "variant '" + variant.name + "'"));
    if (is_met) {
      variants.push_back(std::move(variant));
    }
  } while (advance(combination, axes) && variants.size() <= k_max_variants);
  if (variants.empty()) {
    return refused("no combination meets its condition");
  }
  if (variants.size() > k_max_variants) {
    return refused("more than {} variants meet its condition", k_max_variants);
  }
  return variants;
}

} // namespace

Result<std::vector<Variant>> variants_of_space(const std::string& text) {
  return base::in_context(combine(text),
                          fmt::format("--variants '{}'", base::printable_excerpt(text)));
}

} // namespace oclcc
