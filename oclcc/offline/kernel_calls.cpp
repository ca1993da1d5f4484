#include "offline/kernel_calls.hpp"

#include "offline/ir_metadata.hpp"
#include "offline/text_lines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace oclcc::offline {

namespace {

using Symbols = std::set<std::string, std::less<>>;

// A kernel's name in a definition or a call: "define dso_local spir_kernel void @NAME(…".
struct KernelMention {
  std::size_t convention = 0; // of the space before it
  std::size_t symbol = 0;     // of what follows "@"
  std::string_view name;      // as the IR spells it, perhaps in quotes
};

std::optional<KernelMention> kernel_in(std::string_view line) {
  for (const std::string_view convention : k_kernel_conventions) {
    if (const std::size_t at = line.find(convention); at != std::string_view::npos) {
      const std::size_t symbol = at + convention.size();
      return KernelMention{at, symbol, ir_symbol(line.substr(symbol))};
    }
  }
  return std::nullopt;
}

bool is_call(std::string_view line, const KernelMention& kernel) {
  return line.starts_with("  ") && line.substr(0, kernel.convention).ends_with("call");
}

Symbols callable_kernels(std::string_view ir) {
  Symbols defined;
  for (const IrKernel& kernel : kernels_in(ir)) {
    defined.insert(kernel.symbol);
  }
  Symbols called;
  while (!ir.empty()) {
    const std::string_view line = take_line(ir);
    const auto kernel = kernel_in(line);
    if (kernel && is_call(line, *kernel) && defined.contains(kernel->name)) {
      called.emplace(kernel->name);
    }
  }
  return called;
}

std::string name_of_copy(std::string_view symbol) {
  const bool is_quoted = symbol.starts_with('"');
  return fmt::format("{}oclcc_called_{}", is_quoted ? "\"" : "", symbol.substr(is_quoted ? 1 : 0));
}

// Returns the rest of the line from the convention, of the kernel's copy: " spir_kernel void @g(…"
// → " spir_func void @oclcc_called_g(…".
std::string of_copy(std::string_view line, const KernelMention& kernel) {
  // The convention of functions that clang writes for this target.
  const bool is_spir = line.substr(kernel.convention).starts_with(" spir_");
  return fmt::format(" {}void @{}{}", is_spir ? "spir_func " : "", name_of_copy(kernel.name),
                     line.substr(kernel.symbol + kernel.name.size()));
}

// The number of the attributes of a definition: "7" of "… #7 !kernel_arg_type …".
std::string attributes_of(std::string_view definition) {
  const std::size_t start = definition.find(" #", definition.rfind(')'));
  const std::size_t begin = start == std::string_view::npos ? definition.size() : start + 2;
  const std::string_view rest = definition.substr(begin);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

class CallableKernels {
public:
  explicit CallableKernels(Symbols called) : m_called(std::move(called)) {}

  void add(std::string_view line) {
    const auto kernel = kernel_in(line);
    const bool is_callable = kernel && m_called.contains(kernel->name);
    if (is_callable && line.starts_with("define ")) {
      m_attributes.insert(attributes_of(line));
      m_copy = "define internal" + of_copy(line, *kernel) + '\n';
      append(line);
    } else if (is_callable && is_call(line, *kernel)) {
      const std::string call =
          std::string(line.substr(0, kernel->convention)) + of_copy(line, *kernel);
      append(call);
      copy(call);
    } else if (line.starts_with("attributes #")) {
      append(inlinable(line));
    } else {
      append(line);
      copy(line);
    }
    if (line == "}" && !m_copy.empty()) {
      m_text += '\n' + std::exchange(m_copy, {});
    }
  }
  [[nodiscard]] std::string take() { return std::move(m_text); }

private:
  void append(std::string_view line) { m_text.append(line) += '\n'; }
  void copy(std::string_view line) {
    if (!m_copy.empty()) {
      m_copy.append(line) += '\n';
    }
  }
  // "attributes #7 = { convergent noinline … }"
  [[nodiscard]] std::string inlinable(std::string_view line) const {
    constexpr std::string_view k_noinline = " noinline";
    std::string text(line);
    const std::string_view number = line.substr(std::string_view("attributes #").size());
    const std::size_t at = text.find(k_noinline);
    if (at != std::string::npos && m_attributes.contains(number.substr(0, number.find(' ')))) {
      text.erase(at, k_noinline.size());
    }
    return text;
  }

  Symbols m_called;
  Symbols m_attributes; // of the called kernels
  std::string m_text;
  std::string m_copy; // of the kernel that is being read
};

} // namespace

std::string with_callable_kernels(std::string_view ir) {
  Symbols called = callable_kernels(ir);
  if (called.empty()) {
    return std::string(ir);
  }
  CallableKernels kernels(std::move(called));
  while (!ir.empty()) {
    kernels.add(take_line(ir));
  }
  return kernels.take();
}

} // namespace oclcc::offline
