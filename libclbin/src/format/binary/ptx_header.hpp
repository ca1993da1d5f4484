#pragma once

#include "format/binary/binary_kind.hpp"

#include <optional>
#include <string_view>

namespace clbin::format {

// The directives that every PTX module begins with: .version, .target, .address_size (32 when it is
// left out). Comments and white space before and between them are skipped; a NUL ends the text.
// Nothing when the text does not begin so, or ends before the next directive is seen.
[[nodiscard]] std::optional<BinaryInfo> read_ptx_header(std::string_view text);

} // namespace clbin::format
