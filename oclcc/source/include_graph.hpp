// The files that a program may include, and the possible meanings of each #include line.
#pragma once

#include "base/result.hpp"
#include "source/directive_scanner.hpp"
#include "source/include_search.hpp"
#include "source/macro_expansion.hpp"
#include "terminal/reporter.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace oclcc {

using clbin::source::Directives;
using clbin::source::ExpansionBudget;
using clbin::source::IncludeDirective;
using clbin::source::MacroDefinition;
using clbin::source::MacroExpansion;
using clbin::source::MacroTable;
using clbin::source::MacroValue;
using clbin::source::parse_header_name;
using clbin::source::scan_directives;
using clbin::source::split_parameters;
using clbin::source::TextRange;

// The header names that an #include may expand to, with their opening quote ("\"a.h", "<a.h"), and
// the files found for them.
using IncludeMeanings = std::map<std::string, std::optional<std::size_t>>;

struct IncludedFile {
  HeaderPlace place;
  std::string text;
  Directives directives;
  // Indexed like `directives.includes`. Contains several names only if a macro has several values.
  std::vector<IncludeMeanings> meanings;
  std::string spelling; // of the first #include of it; empty if there is none
};

struct IncludeGraph {
  std::vector<IncludedFile> files; // the main file first
  std::vector<std::size_t> forced; // -include, in order
  MacroTable macros;               // of all files and options
  ExpansionBudget budget;          // the rest of the program's budget
  // Macros that an #include names, and those that these name.
  std::set<std::string> included_macros;
  // File and directive of each #include whose file exists but is not read.
  std::set<std::pair<std::size_t, std::size_t>> unread;
  // One for each element of `unread`, and one for the first #include whose macros are too long to
  // expand.
  std::vector<Diagnostic> warnings;
};

// Includes the headers of all branches. An #include of a missing or unreadable file is not an
// error, because its branch may not be taken. Errors as for find_include_closure.
[[nodiscard]] clbin::base::Result<IncludeGraph>
find_include_graph(const std::filesystem::path& main_file, const IncludeSearch& search);

} // namespace oclcc
