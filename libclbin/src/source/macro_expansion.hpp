// What a text may become when its macros are expanded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::source {

// One definition. Without parameters: #define NAME text; else #define NAME(a, b) text, where "..."
// is the last of a variadic one's.
struct MacroValue {
  std::optional<std::vector<std::string>> parameters;
  std::string text;

  friend bool operator<(const MacroValue& a, const MacroValue& b) {
    return a.text != b.text ? a.text < b.text : a.parameters < b.parameters;
  }
};

// Every value that a macro may have: no branch is taken, so one name may have several.
using MacroTable = std::map<std::string, std::set<MacroValue>>;

struct MacroExpansion {
  enum class Extent : std::uint8_t { whole, cut_short };

  std::set<std::string> texts;   // white space is one space; empty if the first choice was too long
  std::set<std::string> macros;  // those that were expanded
  Extent extent = Extent::whole; // cut_short: `text` may become other texts too
};

// What expansions may cost. One budget is shared by all expansions of a program, because a few
// kilobytes of source can contain thousands of #include lines, each with its own long expansion.
class ExpansionBudget {
public:
  // Both are far above what the programs in use need: hashcat's kernels take some 2,000 steps.
  static constexpr std::size_t k_default_steps = 2000000;     // tokens made or looked at
  static constexpr std::size_t k_default_bytes = 256U << 20U; // copied

  explicit ExpansionBudget(std::size_t steps = k_default_steps, std::size_t bytes = k_default_bytes)
      : m_steps(steps), m_bytes(bytes) {}

  // Returns false, now and from then on, if less is left.
  [[nodiscard]] bool take(std::size_t steps, std::size_t bytes);
  [[nodiscard]] bool is_spent() const { return m_spent; }
  // At most this much of what is left, for one expansion, and what becomes of the rest of it.
  [[nodiscard]] ExpansionBudget portion(std::size_t steps, std::size_t bytes) const;
  void subtract(const ExpansionBudget& given, const ExpansionBudget& left);

private:
  std::size_t m_steps;
  std::size_t m_bytes;
  bool m_spent = false;
};

// `text` under every choice of values, each macro having one throughout; with arguments, # and ##
// as C11, 6.10.3, has them. __FILE__ is `file_name`. Safe on any text: the result is cut short
// after 1,000 choices, 20,000 tokens or 8 MiB of copied tokens, or if `budget` is spent.
[[nodiscard]] MacroExpansion expand_macros(std::string_view text, const MacroTable& macros,
                                           const std::string& file_name, ExpansionBudget& budget);

// "a, b" between the parentheses of a definition.
[[nodiscard]] std::vector<std::string> split_parameters(std::string_view text);

} // namespace clbin::source
