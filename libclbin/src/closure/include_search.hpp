// Search paths of headers.
#pragma once

#include "source/directive_scanner.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clbin::closure {

using source::IncludeForm;
using source::IncludeStart;

struct IncludeSearch {
  std::vector<std::filesystem::path> folders;         // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  // Options of all variants. The text of the package contains those that `driver_options_of` omits.
  std::vector<std::string> driver_options;
  // Options of single variants. Their macros remain options, or depend on a macro that is one.
  std::vector<std::string> variant_options;
};

struct HeaderPlace {
  std::filesystem::path path; // spelled as the user would spell it
  // The index of its -I directory; std::nullopt if it was found next to the including file or by
  // its absolute path.
  std::optional<std::size_t> folder;
};

// Returns the possible places of a header, in search order. `from` is the including file, or
// nullptr for -include.
[[nodiscard]] std::vector<HeaderPlace> header_places(const IncludeSearch& search,
                                                     const HeaderPlace* from, IncludeForm form,
                                                     IncludeStart start,
                                                     const std::filesystem::path& name);

// Whether `path` is a pipe or a device, on which compilers would block. False for a directory,
// which compilers ignore.
[[nodiscard]] bool is_irregular(const std::filesystem::path& path);

} // namespace clbin::closure
