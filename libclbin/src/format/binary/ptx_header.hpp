#pragma once

#include "format/binary/binary_kind.hpp"

#include <optional>
#include <string_view>

namespace clbin::format {

// Reads the directives at the start of every PTX module: .version, .target and .address_size (32 if
// absent). Skips comments and white space before and between them; a NUL ends the text. Returns
// std::nullopt if the text does not begin with these directives, or ends before the next directive.
[[nodiscard]] std::optional<BinaryInfo> read_ptx_header(std::string_view text);

} // namespace clbin::format
