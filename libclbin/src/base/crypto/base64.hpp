// Base64 (RFC 4648, section 4), in time that does not depend on the bytes.
#pragma once

#include "base/crypto/secret_bytes.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace clbin::base {

// With padding.
[[nodiscard]] std::string to_base64(ByteView bytes);
[[nodiscard]] SecretBytes to_secret_base64(ByteView bytes);
// Returns std::nullopt unless `text` is the canonical form, with padding and nothing else, of
// exactly `size_bytes` bytes.
[[nodiscard]] std::optional<SecretBytes> from_base64(std::string_view text, std::size_t size_bytes);

} // namespace clbin::base
