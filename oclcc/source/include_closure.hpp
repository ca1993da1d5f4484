// Finds every file that a program includes, before any driver sees it.
#pragma once

#include "base/result.hpp"
#include "format/source_package.hpp"
#include "source/include_search.hpp"
#include "terminal/reporter.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace oclcc {

struct IncludeClosure {
  // Every #include that was resolved names a header of the package, and no two files share a name:
  // the text of #include lines is rewritten, line for line, where it must be. Names hold no "..",
  // begin with no "/", and depend on nothing but the texts of the #include lines.
  clbin::format::SourcePackage package;
  std::vector<std::filesystem::path> files; // main file first, as the user would write them
  // Of the #include lines whose file is there and is not read: a pipe, a device, or unreadable.
  std::vector<Diagnostic> warnings;
};

// The superset over all branches: an include that is not found is no error here, since its branch
// may not be taken (where it is, the driver's own error tells). So it is with a header that cannot
// be read or is not text, and with a pipe or a device, which are not read: compilers then find no
// file of the name. file_not_found, file_read for the main file and -include; invalid_argument
// where one of these is not text, for a main file that is empty, and for more than 10,000 headers.
//
// -include, -U and macros whose value has white space, quotes or a backslash in it (no quoting
// works on every driver: rusticl crashes on some, PoCL loses quotes) become a main file of #define,
// #undef and #include lines; the user's main file is then one of its headers, so that its line
// numbers hold on compilers that ignore #line too (Oclgrind). package.main.display_name stays the
// user's path.
[[nodiscard]] clbin::base::Result<IncludeClosure>
find_include_closure(const std::filesystem::path& main_file, const IncludeSearch& search);

// What drivers are given with the package for a variant with these options of its own.
[[nodiscard]] std::vector<std::string>
driver_options_of(const IncludeSearch& search, const std::vector<std::string>& variant_options);

// The package as a bundle carries it: no path of the build machine is left in it, and diagnostics
// of a source fallback name files as #include lines do.
[[nodiscard]] clbin::format::SourcePackage without_paths(clbin::format::SourcePackage package);

} // namespace oclcc
