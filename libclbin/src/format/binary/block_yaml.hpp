// Reads the subset of YAML that LLVM's writer uses for a compiler's tables.
#pragma once

#include "base/json_document.hpp"
#include "base/result.hpp"

#include <string_view>

namespace clbin::format {

// Reads one document of block maps and block lists. Scalars are on one line: plain, or in single or
// double quotes. Lists of scalars may be in brackets. Anchors, tags, block texts, flow maps and
// multi-line scalars are not supported. Numbers without a sign are std::uint64_t, `true` and
// `false` are bool, and all other values are text.
//
// Safe on untrusted input; memory and time are proportional to the size of `text`. Error: damaged,
// with the line number, for any other syntax, a duplicate key in a map, and nesting above 16.
[[nodiscard]] base::Result<base::JsonValue> parse_block_yaml(std::string_view text);

} // namespace clbin::format
