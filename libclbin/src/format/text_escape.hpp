// Driver texts (build logs, device names) hold any bytes; JSON holds UTF-8 only.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace clbin::format {

// UTF-8 that stands for `text`, whatever bytes it has: a byte that is no part of valid UTF-8 (RFC
// 3629), and the byte 0x10 itself, becomes the character U+0010 and two lower-case hexadecimal
// digits. All other texts stay as they are.
[[nodiscard]] std::string escape_text(std::string_view text);

// The opposite. ErrorCode::manifest_invalid for what escape_text never gives.
[[nodiscard]] base::Result<std::string> unescape_text(std::string_view escaped);

} // namespace clbin::format
