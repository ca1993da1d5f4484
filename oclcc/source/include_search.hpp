// Where headers are looked for.
#pragma once

#include "source/directive_scanner.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

using clbin::source::IncludeForm;
using clbin::source::IncludeStart;

struct IncludeSearch {
  std::vector<std::filesystem::path> folders;         // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  // Those of all variants: the package's text takes up what `driver_options_of` leaves out.
  std::vector<std::string> driver_options;
  // Those of single variants: their macros stay options, or are behind a macro that is one.
  std::vector<std::string> variant_options;
};

struct HeaderPlace {
  std::filesystem::path path; // as the user would write it
  // The -I folder that it is in; nothing: it is beside the including file, or absolute.
  std::optional<std::size_t> folder;
};

// Where a header called `name` may lie, in the order of search. `from` is the including file;
// nullptr: none, as for -include.
[[nodiscard]] std::vector<HeaderPlace> header_places(const IncludeSearch& search,
                                                     const HeaderPlace* from, IncludeForm form,
                                                     IncludeStart start,
                                                     const std::filesystem::path& name);

// A pipe or a device: compilers would wait on it. A folder is no header, and they know that.
[[nodiscard]] bool is_irregular(const std::filesystem::path& path);

} // namespace oclcc
