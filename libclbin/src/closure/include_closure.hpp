// Finds every file that a program includes, without a driver.
#pragma once

#include "base/result.hpp"
#include "closure/include_graph.hpp"
#include "closure/include_search.hpp"
#include "model/source.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::closure {

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

} // namespace clbin::closure
