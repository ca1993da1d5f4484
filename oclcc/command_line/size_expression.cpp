#include "command_line/size_expression.hpp"

#include "base/json_document.hpp"
#include "base/text.hpp"
#include "source/directive_scanner.hpp"

#include <numeric>

namespace oclcc {

namespace {

constexpr std::uint64_t k_largest = (1ULL << 63U) - 1;

// Not negative, in lowest terms.
struct Fraction {
  std::uint64_t above = 0;
  std::uint64_t below = 1;
};

std::optional<std::uint64_t> product(std::uint64_t left, std::uint64_t right) {
  if (left != 0 && right > k_largest / left) {
    return std::nullopt;
  }
  return left * right;
}

std::optional<Fraction> reduced(std::optional<std::uint64_t> above,
                                std::optional<std::uint64_t> below) {
  if (!above || !below || *below == 0) {
    return std::nullopt;
  }
  const std::uint64_t divisor = std::gcd(*above, *below);
  return Fraction{*above / divisor, *below / divisor};
}

std::optional<Fraction> sum(Fraction left, Fraction right) {
  const auto first = product(left.above, right.below);
  const auto second = product(right.above, left.below);
  if (!first || !second || *second > k_largest - *first) {
    return std::nullopt;
  }
  return reduced(*first + *second, product(left.below, right.below));
}

std::optional<Fraction> difference(Fraction left, Fraction right) {
  const auto first = product(left.above, right.below);
  const auto second = product(right.above, left.below);
  if (!first || !second || *second > *first) {
    return std::nullopt;
  }
  return reduced(*first - *second, product(left.below, right.below));
}

} // namespace

// By recursive descent.
class ExpressionParser {
public:
  explicit ExpressionParser(std::string_view text) : m_rest(text) {}

  Result<void> parse_sum(unsigned depth) {
    CLBIN_TRY(parse_product(depth));
    for (;;) {
      if (takes('+')) {
        CLBIN_TRY(parse_product(depth));
        add(Operation::add);
      } else if (takes('-')) {
        CLBIN_TRY(parse_product(depth));
        add(Operation::subtract);
      } else {
        return {};
      }
    }
  }

  [[nodiscard]] std::string_view rest() const noexcept { return m_rest; }
  [[nodiscard]] std::vector<SizeExpression::Step> take_steps() && { return std::move(m_steps); }

private:
  using Operation = SizeExpression::Operation;
  static constexpr unsigned k_deepest = 32;

  void add(Operation operation) { m_steps.push_back({operation, std::nullopt}); }

  bool takes(char letter) {
    m_rest = skip_blanks(m_rest);
    if (!m_rest.starts_with(letter)) {
      return false;
    }
    m_rest.remove_prefix(1);
    m_rest = skip_blanks(m_rest);
    return true;
  }

  static std::string_view skip_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
  }

  Result<void> parse_product(unsigned depth) {
    CLBIN_TRY(parse_operand(depth));
    for (;;) {
      if (takes('*')) {
        CLBIN_TRY(parse_operand(depth));
        add(Operation::multiply);
      } else if (takes('/')) {
        CLBIN_TRY(parse_operand(depth));
        add(Operation::divide);
      } else {
        return {};
      }
    }
  }

  Result<void> parse_operand(unsigned depth) {
    if (depth > k_deepest) {
      return fail(ErrorCode::invalid_argument, "its parentheses are nested too deeply");
    }
    m_rest = skip_blanks(m_rest);
    if (takes('(')) {
      return parse_to_parenthesis(depth);
    }
    if (const auto number = base::take_number<std::uint64_t>(m_rest)) {
      m_steps.push_back({Operation::number, number});
      return {};
    }
    std::size_t length = 0;
    while (length < m_rest.size() && clbin::source::is_identifier(m_rest[length])) {
      ++length;
    }
    const std::string name(m_rest.substr(0, length));
    m_rest.remove_prefix(length);
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) {
      return fail(ErrorCode::invalid_argument, "a number or a name is missing before '{}'",
                  base::printable_excerpt(name + std::string(m_rest)));
    }
    if (name == "ceil" && takes('(')) {
      CLBIN_TRY(parse_to_parenthesis(depth));
      add(Operation::round_up);
      return {};
    }
    return parse_default(name);
  }

  Result<void> parse_to_parenthesis(unsigned depth) {
    CLBIN_TRY(parse_sum(depth + 1));
    if (!takes(')')) {
      return fail(ErrorCode::invalid_argument, "')' is missing before '{}'",
                  base::printable_excerpt(m_rest));
    }
    return {};
  }

  Result<void> parse_default(const std::string& name) {
    std::optional<std::uint64_t> otherwise;
    if (takes('?')) {
      otherwise = base::take_number<std::uint64_t>(m_rest);
      if (!otherwise) {
        return fail(ErrorCode::invalid_argument, "a number is missing behind '{}?'", name);
      }
    }
    m_steps.push_back({Operation::name, otherwise, name});
    return {};
  }

  std::string_view m_rest;
  std::vector<SizeExpression::Step> m_steps;
};

Result<SizeExpression> SizeExpression::take(std::string_view& text) {
  ExpressionParser parser(text);
  CLBIN_TRY(parser.parse_sum(0));
  SizeExpression expression;
  expression.m_text = base::without_blanks(text.substr(0, text.size() - parser.rest().size()));
  text = parser.rest();
  expression.m_steps = std::move(parser).take_steps();
  return expression;
}

Result<SizeExpression> SizeExpression::parse(std::string_view text) {
  std::string_view rest = text;
  CLBIN_TRY_ASSIGN(SizeExpression expression, take(rest));
  if (!rest.empty()) {
    return fail(ErrorCode::invalid_argument, "'{}' follows an expression",
                base::printable_excerpt(rest));
  }
  return expression;
}

SizeExpression SizeExpression::of(std::uint64_t number) {
  SizeExpression expression;
  expression.m_text = fmt::format("{}", number);
  expression.m_steps.push_back({Operation::number, number});
  return expression;
}

Result<std::uint64_t> SizeExpression::evaluate(const Values& values) const {
  std::vector<Fraction> stack;
  for (const Step& step : m_steps) {
    if (step.operation == Operation::number || step.operation == Operation::name) {
      const auto known = step.name.empty() ? step.number : values(step.name);
      const auto number = known ? known : step.number;
      if (!number || *number > k_largest) {
        return fail(ErrorCode::invalid_argument, "'{}': {}", m_text,
                    number ? "a number is too large"
                           : fmt::format("'{}' has no value, and no default such as {}?16",
                                         step.name, step.name));
      }
      stack.push_back({*number, 1});
      continue;
    }
    std::optional<Fraction> result;
    const Fraction right = stack.back();
    stack.pop_back();
    if (step.operation == Operation::round_up) {
      stack.push_back({right.above / right.below + (right.above % right.below == 0 ? 0 : 1), 1});
      continue;
    }
    const Fraction left = stack.back();
    switch (step.operation) {
    case Operation::add:
      result = sum(left, right);
      break;
    case Operation::subtract:
      result = difference(left, right);
      break;
    case Operation::multiply:
      result = reduced(product(left.above, right.above), product(left.below, right.below));
      break;
    default:
      result = reduced(product(left.above, right.below), product(left.below, right.above));
      break;
    }
    if (!result) {
      return fail(ErrorCode::invalid_argument,
                  "'{}' divides by zero, is below zero, or is too large", m_text);
    }
    stack.back() = *result;
  }
  if (stack.back().below != 1) {
    return fail(ErrorCode::invalid_argument, "'{}' is {}/{}, which is not a whole number", m_text,
                stack.back().above, stack.back().below);
  }
  return stack.back().above;
}

std::vector<std::string> SizeExpression::names() const {
  std::vector<std::string> names;
  for (const Step& step : m_steps) {
    if (step.operation == Operation::name) {
      names.push_back(step.name);
    }
  }
  return names;
}

} // namespace oclcc
