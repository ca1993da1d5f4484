// Chooses the names of a program's headers in its package.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clbin::closure {

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
