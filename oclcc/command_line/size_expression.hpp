// Sizes of launches as expressions of the macros of a variant, such as "ceil(512/TILE?128)*local0"
// (oclcc-tuning(7)).
#pragma once

#include "terminal/reporter.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace oclcc {

// Whole and broken numbers from 0, +, -, *, /, parentheses, ceil(), and names, which "?" and a
// number may follow: the value if the name has none. Broken numbers are exact.
class SizeExpression {
public:
  // Removes the expression that begins `text`, with the blanks around it. invalid_argument: there
  // is none, or it is nested too deeply.
  [[nodiscard]] static Result<SizeExpression> take(std::string_view& text);
  [[nodiscard]] static SizeExpression of(std::uint64_t number);
  // The whole of `text`.
  [[nodiscard]] static Result<SizeExpression> parse(std::string_view text);

  using Values = std::function<std::optional<std::uint64_t>(const std::string& name)>;
  // invalid_argument: a name has no value, or the result is not a whole number from 0 to 2^63 - 1.
  [[nodiscard]] Result<std::uint64_t> evaluate(const Values& values) const;

  [[nodiscard]] const std::string& text() const noexcept { return m_text; }
  // The names, in order, those with a default included.
  [[nodiscard]] std::vector<std::string> names() const;

private:
  friend class ExpressionParser;
  enum class Operation : std::uint8_t { number, name, add, subtract, multiply, divide, round_up };
  // In the order of their evaluation, operands first.
  struct Step {
    Operation operation = Operation::number;
    std::optional<std::uint64_t> number; // of a name, its default
    std::string name{};
  };

  std::string m_text;
  std::vector<Step> m_steps;
};

} // namespace oclcc
