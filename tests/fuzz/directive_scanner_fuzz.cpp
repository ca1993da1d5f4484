// Any text: what the scanner finds lies where it says, and macros end.
#include "fuzz_check.hpp"
#include "source/directive_scanner.hpp"
#include "source/macro_expansion.hpp"

#include <cstddef>
#include <cstdint>

namespace {

namespace source = clbin::source;
using source::TextRange;

bool is_inside(const TextRange& range, std::string_view text) {
  return range.begin < range.end && range.end <= text.size();
}

void check(const source::IncludeDirective& include, std::string_view text) {
  using clbin::fuzz::require;
  require(!include.name.empty(), "an include has a name");
  require(is_inside(include.token, text), "an include's name is in the text");
  require(is_inside(include.keyword, text), "an include's keyword is in the text");
  require(include.keyword.end <= include.token.begin, "the keyword stands before the name");
  if (include.form != source::IncludeForm::macro) {
    const char first = text[include.token.begin];
    require(first == (include.form == source::IncludeForm::quoted ? '"' : '<'),
            "a header name begins with its quote");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const source::Directives directives = source::scan_directives(text);
  source::MacroTable macros;
  for (const source::MacroDefinition& macro : directives.macros) {
    source::MacroValue value{std::nullopt, macro.value};
    if (macro.parameters) {
      value.parameters = source::split_parameters(*macro.parameters);
    }
    clbin::fuzz::require(!macro.name.empty(), "a macro has a name");
    macros[macro.name].insert(std::move(value));
  }
  source::ExpansionBudget budget;
  for (const source::IncludeDirective& include : directives.includes) {
    check(include, text);
    if (include.form == source::IncludeForm::macro) {
      const auto expansion = source::expand_macros(include.name, macros, "k.cl", budget);
      clbin::fuzz::require(!expansion.texts.empty() ||
                               expansion.extent == source::MacroExpansion::Extent::cut_short,
                           "a text expands to something");
    }
  }
  return 0;
}
