// Replaces directives and names in one text of a closed package; see source_closing.hpp.
#pragma once

#include "model/source.hpp"
#include "source/included_macros.hpp"
#include "source/lenient_text.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace clbin::source {

// The headers of a package: their original names and their names in the closed package.
class HeaderNames {
public:
  explicit HeaderNames(const format::SourcePackage& package);

  // Returns std::nullopt if the package has no such header, or if compilers may read the name
  // differently.
  [[nodiscard]] std::optional<std::string> closed_name(const std::string& name) const;
  [[nodiscard]] static std::string closed(const std::string& name);

private:
  std::map<std::string, std::string> m_closed; // also maps each closed name to itself
};

// "name" or <name> at `at`; std::nullopt if there is none, or one that cannot be a header of a
// package.
struct HeaderToken {
  std::string name;
  std::size_t end = 0;
};
[[nodiscard]] std::optional<HeaderToken> header_token_at(std::string_view text, std::size_t at);

// State that the texts of a package share.
struct ClosingState {
  const HeaderNames& names;
  IncludedMacros& macros;
  // Macros that are only ever defined as strings that name headers, and that no option defines.
  std::set<std::string> definitions;
  std::set<std::string> proved; // those of `definitions` that an #include names
  std::size_t long_errors = 0;  // #error lines that include the reason
};

// candidates: adds the macros that `text` defines as strings that name headers to
// `state.definitions`. others: removes those that it defines as anything else.
enum class DefinitionSweep : std::uint8_t { candidates, others };
void add_definitions(const LenientText& text, DefinitionSweep sweep, ClosingState& state);

// Returns the text after one pass; std::nullopt if nothing was replaced.
[[nodiscard]] std::optional<std::string> close_text(const LenientText& text, ClosingState& state);

} // namespace clbin::source
