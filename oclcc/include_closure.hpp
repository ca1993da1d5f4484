// Finds every file that a program includes, before any driver sees it.
#pragma once

#include "base/result.hpp"
#include "format/source_package.hpp"
#include "reporter.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace oclcc {

struct IncludeSearch {
  std::vector<std::filesystem::path> folders;         // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  std::vector<std::string> driver_options;            // for the macros that #include NAME uses
};

struct IncludeClosure {
  // Every #include that was resolved names a header of the package, and no two files share a name:
  // the text of #include lines is rewritten, line for line, where it must be.
  clbin::format::SourcePackage package;
  std::vector<std::filesystem::path> files; // main file first, as the user would write them
};

// The superset over all branches: an include that is not found is no error here, since its branch
// may not be taken (then the driver's own error tells). file_not_found, file_read for the main file
// and -include; invalid_argument for a main file that is empty or not text.
[[nodiscard]] clbin::base::Result<IncludeClosure>
find_include_closure(const std::filesystem::path& main_file, const IncludeSearch& search);

} // namespace oclcc
