// Finds every file that a program includes, without a driver, and makes a package of them.
#pragma once

#include "model/source.hpp"
#include "source/macro_expansion.hpp"

#include <filesystem>

namespace clbin::closure {

using source::Directives;
using source::ExpansionBudget;
using source::IncludeDirective;
using source::IncludeForm;
using source::IncludeStart;
using source::MacroDefinition;
using source::MacroExpansion;
using source::MacroTable;
using source::MacroValue;
using source::parse_header_name;
using source::scan_directives;
using source::TextRange;

struct IncludeSearch {
  std::vector<std::filesystem::path> folders;         // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  // Options of all variants. The text of the package contains those that `driver_options_of` omits.
  std::vector<std::string> driver_options;
  // Options of single variants. Their macros remain options, or depend on a macro that is one.
  std::vector<std::string> variant_options;
  // Headers that no file has to be: found if nothing else is, by their names in #include lines.
  std::map<std::string, std::string_view> own_headers{};
};

struct HeaderPlace {
  std::filesystem::path path; // spelled as the user would spell it
  // The index of its -I directory; std::nullopt if it was found next to the including file or by
  // its absolute path.
  std::optional<std::size_t> folder;
  bool is_own = false; // one of IncludeSearch::own_headers, which is no file
};

// ---- The files that a program may include, and the possible meanings of each #include line ------

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
  // Where a header was looked for and none was read. A new file there can change the graph.
  std::set<std::filesystem::path> absent;
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

// ---- The package -------------------------------------------------------------------------------

// Name of a main file that find_include_closure generates. The user's main file is then one of its
// headers.
inline constexpr std::string_view k_prologue_name = "<command line>";

struct IncludeClosure {
  // Every resolved #include names a header of the package, and no two files have the same name. If
  // necessary, the text of #include lines is rewritten, line for line. Names contain no "..", do
  // not start with "/", and depend only on the texts of the #include lines.
  format::SourcePackage package;
  std::vector<std::filesystem::path> files; // main file first, spelled as the user would spell it
  // For #include lines whose file exists but is not read: a pipe, a device, or an unreadable file.
  std::vector<IncludeWarning> warnings;
};

// Includes the headers of all branches. A missing include is not an error, because its branch may
// not be taken; otherwise, the driver reports it. The same applies to headers that are unreadable
// or not text, and to pipes and devices, which are not read: compilers then find no file of that
// name. file_not_found, file_read: the main file or -include. invalid_argument: one of these is not
// text, the main file is empty, or there are more than 10,000 headers.
//
// -include, -U and macros whose value contains white space, quotes or a backslash become a main
// file of #define, #undef and #include lines, because no quoting works on every driver (rusticl
// crashes on some, PoCL loses quotes). The user's main file is then one of its headers, so that its
// line numbers are correct even on compilers that ignore #line (Oclgrind).
// package.main.display_name remains the user's path.
[[nodiscard]] base::Result<IncludeClosure>
find_include_closure(const std::filesystem::path& main_file, const IncludeSearch& search);

// Makes a package of a graph. `main_file` is the name of its main file.
[[nodiscard]] IncludeClosure write_include_closure(IncludeGraph graph, const IncludeSearch& search,
                                                   const std::filesystem::path& main_file);

// Returns the options that drivers receive with the package for a variant with `variant_options`.
[[nodiscard]] std::vector<std::string>
driver_options_of(const IncludeSearch& search, const std::vector<std::string>& variant_options);

// Returns the package for a bundle, without paths of the build machine. Diagnostics of a source
// fallback name files as #include lines do.
[[nodiscard]] format::SourcePackage without_paths(format::SourcePackage package);

// One resolved #include: the including file and the included file.
struct IncludeEdge {
  std::size_t from = 0;
  std::size_t to = 0;
};

// Returns a unique name for each file: the spelling of its first #include if it is safe, otherwise
// the last part of the path, numbered if necessary. `spellings` is indexed by file; it is empty for
// a file without an #include, whose name is then empty. Compilers search the directory of the
// including file first, then the directory of the headers. A name never finds another file.
[[nodiscard]] std::vector<std::string>
choose_include_names(const std::vector<std::string>& spellings,
                     const std::vector<IncludeEdge>& edges);

} // namespace clbin::closure
