// The texts that macro expansion can produce.
#pragma once

#include "source/directive_scanner.hpp"

#include <map>
#include <set>

namespace clbin::source {

// One definition. Without parameters: #define NAME text. With parameters: #define NAME(a, b) text;
// the last parameter of a variadic macro is "...".
struct MacroValue {
  std::optional<std::vector<std::string>> parameters;
  std::string text;

  friend bool operator<(const MacroValue& a, const MacroValue& b) {
    return a.text != b.text ? a.text < b.text : a.parameters < b.parameters;
  }
};

// All values that a macro may have. A name can have several, because conditions are not evaluated.
using MacroTable = std::map<std::string, std::set<MacroValue>>;

struct MacroExpansion {
  enum class Extent : std::uint8_t { whole, cut_short };

  std::set<std::string> texts;   // with single spaces; empty if the first choice was too long
  std::set<std::string> macros;  // that were expanded
  Extent extent = Extent::whole; // cut_short: `text` may have further expansions
};

// The cost limit of expansions. All expansions of a program share one budget, because a few
// kilobytes of source can contain thousands of #include lines, each with its own long expansion.
class ExpansionBudget {
public:
  // Both far exceed the needs of programs in use: hashcat's kernels need about 2,000 steps.
  static constexpr std::size_t k_default_steps = 2000000;     // tokens created or examined
  static constexpr std::size_t k_default_bytes = 256U << 20U; // copied

  explicit ExpansionBudget(std::size_t steps = k_default_steps, std::size_t bytes = k_default_bytes)
      : m_steps(steps), m_bytes(bytes) {}

  // Returns false if less is left, and then on every later call.
  [[nodiscard]] bool take(std::size_t steps, std::size_t bytes);
  [[nodiscard]] bool is_spent() const { return m_spent; }
  // portion() returns a budget for one expansion, with at most this much of what is left.
  // subtract() then deducts what that expansion used.
  [[nodiscard]] ExpansionBudget portion(std::size_t steps, std::size_t bytes) const;
  void subtract(const ExpansionBudget& given, const ExpansionBudget& left);

private:
  std::size_t m_steps;
  std::size_t m_bytes;
  bool m_spent = false;
};

// Expands `text` under every choice of values, in which each macro has one value throughout.
// Arguments, # and ## are handled as in C11, 6.10.3. __FILE__ is `file_name`. Safe on any text: the
// result is cut short after 1,000 choices, 20,000 tokens or 8 MiB of copied tokens, or if `budget`
// is spent.
[[nodiscard]] MacroExpansion expand_macros(std::string_view text, const MacroTable& macros,
                                           const std::string& file_name, ExpansionBudget& budget);

// Splits the text between the parentheses of a definition, "a, b".
[[nodiscard]] std::vector<std::string> split_parameters(std::string_view text);
[[nodiscard]] MacroValue value_of(const MacroDefinition& macro);

} // namespace clbin::source
