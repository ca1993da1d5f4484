// Any text: what the scanner finds lies where it says, and macros end.
#include "directive_scanner.hpp"
#include "fuzz_check.hpp"
#include "macro_expansion.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using oclcc::TextRange;

bool is_inside(const TextRange& range, std::string_view text) {
  return range.begin < range.end && range.end <= text.size();
}

void check(const oclcc::IncludeDirective& include, std::string_view text) {
  using clbin::fuzz::require;
  require(!include.name.empty(), "an include has a name");
  require(is_inside(include.token, text), "an include's name is in the text");
  require(is_inside(include.keyword, text), "an include's keyword is in the text");
  require(include.keyword.end <= include.token.begin, "the keyword stands before the name");
  if (include.form != oclcc::IncludeForm::macro) {
    const char first = text[include.token.begin];
    require(first == (include.form == oclcc::IncludeForm::quoted ? '"' : '<'),
            "a header name begins with its quote");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const oclcc::Directives directives = oclcc::scan_directives(text);
  oclcc::MacroTable macros;
  for (const oclcc::MacroDefinition& macro : directives.macros) {
    oclcc::MacroValue value{std::nullopt, macro.value};
    if (macro.parameters) {
      value.parameters = oclcc::split_parameters(*macro.parameters);
    }
    clbin::fuzz::require(!macro.name.empty(), "a macro has a name");
    macros[macro.name].insert(std::move(value));
  }
  oclcc::ExpansionBudget budget;
  for (const oclcc::IncludeDirective& include : directives.includes) {
    check(include, text);
    if (include.form == oclcc::IncludeForm::macro) {
      const auto expansion = oclcc::expand_macros(include.name, macros, "k.cl", budget);
      clbin::fuzz::require(!expansion.texts.empty() ||
                               expansion.extent == oclcc::MacroExpansion::Extent::cut_short,
                           "a text expands to something");
    }
  }
  return 0;
}
