// Which headers an #include names through macros.
#pragma once

#include "format/bundle/source_package.hpp"
#include "source/macro_expansion.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clbin::source {

// Bytes of text.
[[nodiscard]] std::size_t size_of(const format::SourcePackage& package);

// Knows the macros of a package and of the options that it is built with. What it needs is read
// when it is first asked for: few programs need it.
class IncludedMacros {
public:
  // Of more text than this, macros are not read: they take several times its memory.
  static constexpr std::size_t k_max_bytes = 4U << 20U;

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
