// Applies -ffile-prefix-map to file names of the build machine in a program's text.
#pragma once

#include "command_line/options.hpp"
#include "model/source.hpp"

namespace oclcc {

// Returns `name` with its prefix replaced by the last matching mapping, as in gcc; unchanged if
// none matches.
[[nodiscard]] std::string map_prefix(std::span<const PrefixMapping> mappings,
                                     std::string_view name);

// Replaces the names in the #line directives of the package. Other names (#include lines, __FILE__)
// contain no path of the build machine. Returns a map from new to old names.
[[nodiscard]] std::map<std::string, std::string>
map_line_names(std::span<const PrefixMapping> mappings, format::SourcePackage& package);

} // namespace oclcc
