// The part of YAML that LLVM's writer makes of a compiler's tables.
#pragma once

#include "base/json_document.hpp"
#include "base/result.hpp"

#include <string_view>

namespace clbin::format {

// Reads one document of block maps and block lists, whose scalars are on one line: plain, or in
// single or double quotes; lists of scalars may be in brackets. There are no anchors, tags, block
// texts, flow maps or multi-line scalars. Numbers without a sign are std::uint64_t, `true` and
// `false` are bool, all else is text.
//
// Safe on untrusted input: memory and time in proportion to the size of `text`. Error code damaged,
// with the number of the line: anything else, a key twice in one map, nesting above 16.
[[nodiscard]] base::Result<base::JsonValue> parse_block_yaml(std::string_view text);

} // namespace clbin::format
