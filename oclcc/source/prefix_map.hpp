// -ffile-prefix-map: names of the build machine's files that a program's text holds.
#pragma once

#include "command_line/options.hpp"
#include "format/source_package.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace oclcc {

// `name` with the prefix replaced by the last mapping that fits, as gcc does; unchanged where none
// does.
[[nodiscard]] std::string map_prefix(std::span<const PrefixMapping> mappings,
                                     std::string_view name);

// Replaces the names in the package's #line directives: what else names a file there (#include
// lines, __FILE__) holds no path of the build machine. Gives the new names with the old ones.
[[nodiscard]] std::map<std::string, std::string>
map_line_names(std::span<const PrefixMapping> mappings, clbin::format::SourcePackage& package);

} // namespace oclcc
