// The names under which a program's headers travel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace oclcc {

// One resolved #include: which file it stands in, and which it names.
struct IncludeEdge {
  std::size_t from = 0;
  std::size_t to = 0;
};

// A name for each file, all different: the spelling that first reached it where that is safe, else
// its last part, numbered where needed. `spellings`: by file; empty for a file that no #include
// reaches (it gets an empty name). Compilers look beside the including file first, then in the
// headers' folder: no name found that way is another file's.
[[nodiscard]] std::vector<std::string>
choose_include_names(const std::vector<std::string>& spellings,
                     const std::vector<IncludeEdge>& edges);

} // namespace oclcc
