// Escapes driver texts such as build logs and device names, which contain arbitrary bytes, for
// JSON, which contains only UTF-8.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace clbin::base {

// Returns the size in bytes of the valid UTF-8 character (RFC 3629) at the start of `text`, or 0 if
// there is none. `text` must not be empty.
[[nodiscard]] std::size_t character_bytes(std::string_view text) noexcept;

// Returns UTF-8 for arbitrary bytes: a byte that is not part of valid UTF-8 (RFC 3629), and the
// byte 0x10 itself, becomes the character U+0010 and two lower-case hexadecimal digits. Other bytes
// are unchanged.
[[nodiscard]] std::string escape_text(std::string_view text);

// Reverses escape_text. Returns ErrorCode::manifest_invalid for a text that escape_text never
// returns.
[[nodiscard]] Result<std::string> unescape_text(std::string_view escaped);

} // namespace clbin::base
