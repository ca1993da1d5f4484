// Resolves the headers that an #include names through macros.
#pragma once

#include "model/source.hpp"
#include "source/macro_expansion.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clbin::source {

// Returns the size of all texts in bytes.
[[nodiscard]] std::size_t size_of(const format::SourcePackage& package);

// The macros of a package and of its build options. They are read on first use, because few
// programs need them.
class IncludedMacros {
public:
  // Macros of larger packages are not read, because they use several times the memory of the text.
  static constexpr std::size_t k_max_bytes = 4U << 20U;

  // `package` and `options` must outlive this object.
  IncludedMacros(const format::SourcePackage& package, std::string_view options)
      : m_package(package), m_options(options) {}

  // Returns the header name, without quotes, that `text` expands to; std::nullopt if it may expand
  // to none or to several, or if the expansion takes too long.
  [[nodiscard]] std::optional<std::string> only_name(const std::string& text);

private:
  void read_macros();

  const format::SourcePackage& m_package;
  std::string_view m_options;
  std::optional<MacroTable> m_macros;
  ExpansionBudget m_budget;
};

} // namespace clbin::source
