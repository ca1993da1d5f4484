// Driver texts (build logs, device names) hold any bytes; JSON holds UTF-8 only.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace clbin::base {

// Size in bytes of the valid UTF-8 character (RFC 3629) that `text`, not empty, starts with; 0 if
// it starts with none.
[[nodiscard]] std::size_t character_bytes(std::string_view text) noexcept;

// UTF-8 that stands for `text`, whatever bytes it has: a byte that is no part of valid UTF-8 (RFC
// 3629), and the byte 0x10 itself, becomes the character U+0010 and two lower-case hexadecimal
// digits. All other texts stay as they are.
[[nodiscard]] std::string escape_text(std::string_view text);

// The opposite. ErrorCode::manifest_invalid for what escape_text never gives.
[[nodiscard]] Result<std::string> unescape_text(std::string_view escaped);

} // namespace clbin::base
