// The files that a program may include, and the possible meanings of each #include line.
#pragma once

#include "base/result.hpp"
#include "closure/include_search.hpp"
#include "model/source.hpp"
#include "source/directive_scanner.hpp"
#include "source/macro_expansion.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clbin::closure {

using source::Directives;
using source::ExpansionBudget;
using source::IncludeDirective;
using source::MacroDefinition;
using source::MacroExpansion;
using source::MacroTable;
using source::MacroValue;
using source::parse_header_name;
using source::scan_directives;
using source::split_parameters;
using source::TextRange;

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

// In gcc's terms. Lines and columns count from 1.
struct IncludeWarning {
  std::string file; // spelled as the user would spell it
  std::uint32_t line = 0;
  std::uint32_t column = 0; // in bytes
  std::string text;
  std::string source_line;
};

// A main file that exists only in memory.
struct MainText {
  std::string name; // for warnings
  std::string text;
  std::vector<format::SourceFile> headers; // found by their include names before any file
  std::vector<std::string> definitions;    // -D options, which only resolve #include NAME
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
  std::vector<IncludeWarning> warnings;
  // One for each #include and __has_include whose macros may expand to something other than the
  // name of a header.
  std::vector<IncludeWarning> unresolved;
  std::size_t named_headers = 0; // of MainText; they follow the main file
};

// Includes the headers of all branches. An #include of a missing or unreadable file is not an
// error, because its branch may not be taken. Errors as for find_include_closure.
[[nodiscard]] base::Result<IncludeGraph> find_include_graph(const std::filesystem::path& main_file,
                                                            const IncludeSearch& search);

// Likewise for a main file in memory, whose directory is the working directory. invalid_argument:
// there are more than 10,000 headers.
[[nodiscard]] base::Result<IncludeGraph> find_include_graph(MainText main,
                                                            const IncludeSearch& search);
// Returns a warning at a position in the text of `file`.
[[nodiscard]] IncludeWarning warning_at(const IncludedFile& file, std::size_t offset,
                                        std::string text);

} // namespace clbin::closure
