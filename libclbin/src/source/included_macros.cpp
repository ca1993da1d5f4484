#include "source/included_macros.hpp"

#include "base/option_words.hpp"
#include "source/directive_scanner.hpp"

#include <algorithm>

namespace clbin::source {

namespace {

void add_macros(std::string_view text, MacroTable& macros) {
  for (const MacroDefinition& definition : scan_directives(text).macros) {
    MacroValue value{std::nullopt, definition.value};
    if (definition.parameters) {
      value.parameters = split_parameters(*definition.parameters);
    }
    macros[definition.name].insert(std::move(value));
  }
}

// Returns the lines "#define NAME VALUE" that compilers derive from -D options. Keeps quotes, and
// splits within them, because their treatment depends on the driver.
std::string lines_of(std::string_view options) {
  std::string lines;
  bool awaits_name = false;
  for (std::string_view word : base::words_between_spaces(options)) {
    const bool defines = awaits_name || (word.starts_with("-D") && word != "-D");
    awaits_name = !awaits_name && word == "-D";
    if (!defines) {
      continue;
    }
    word.remove_prefix(word.starts_with("-D") ? 2 : 0);
    const std::size_t equals = std::min(word.find('='), word.size());
    lines += "#define ";
    lines += word.substr(0, equals);
    lines += ' ';
    lines += equals == word.size() ? "1" : word.substr(equals + 1);
    lines += '\n';
  }
  return lines;
}

} // namespace

std::size_t size_of(const format::SourcePackage& package) {
  std::size_t size = package.main.text.size();
  for (const format::SourceFile& header : package.headers) {
    size += header.text.size();
  }
  return size;
}

void IncludedMacros::read_macros() {
  m_macros.emplace();
  if (size_of(m_package) > k_max_bytes) {
    return;
  }
  add_macros(m_package.main.text, *m_macros);
  for (const format::SourceFile& header : m_package.headers) {
    add_macros(header.text, *m_macros);
  }
  MacroTable given;
  add_macros(lines_of(m_options), given);
  // Options replace definitions of the text, which are typically inside #ifndef.
  for (auto& [name, values] : given) {
    (*m_macros)[name] = std::move(values);
  }
}

std::optional<std::string> IncludedMacros::only_name(const std::string& text) {
  if (!m_macros) {
    read_macros();
  }
  const MacroExpansion expansion = expand_macros(text, *m_macros, {}, m_budget);
  if (expansion.extent == MacroExpansion::Extent::cut_short || expansion.texts.size() != 1) {
    return std::nullopt;
  }
  IncludeDirective meant = parse_header_name(*expansion.texts.begin());
  if (meant.form == IncludeForm::macro) {
    return std::nullopt;
  }
  return std::move(meant.name);
}

} // namespace clbin::source
