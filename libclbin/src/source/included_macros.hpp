// Which headers an #include names through macros.
#pragma once

#include "format/source_package.hpp"
#include "source/macro_expansion.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace clbin::source {

// Knows the macros of a package and of the options that it is built with. What it needs is read
// when it is first asked for: few programs need it.
class IncludedMacros {
public:
  // Both must outlive it.
  IncludedMacros(const format::SourcePackage& package, std::string_view options)
      : m_package(package), m_options(options) {}

  // The header name (without quotes) that `text` becomes; std::nullopt if it may become none, or
  // several, or takes too long.
  [[nodiscard]] std::optional<std::string> only_name(const std::string& text);

private:
  void read_macros();

  const format::SourcePackage& m_package;
  std::string_view m_options;
  std::optional<MacroTable> m_macros;
  ExpansionBudget m_budget;
};

} // namespace clbin::source
