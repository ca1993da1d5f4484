// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), computed by libsodium.
#pragma once

#include "base/byte_codec.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace clbin::base {

inline constexpr std::size_t k_xchacha20_key_bytes = 32;
inline constexpr std::size_t k_xchacha20_nonce_bytes = 24;
inline constexpr std::size_t k_xchacha20_tag_bytes = 16;

using XChaCha20Nonce = std::array<std::byte, k_xchacha20_nonce_bytes>;

// Writes the ciphertext and then the tag to `sealed`, which must have the size of `plain` and 16
// bytes and must not overlap it. Two different messages must not have the same key and nonce.
void xchacha20_encrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                       const XChaCha20Nonce& nonce, ByteView associated, ByteView plain,
                       std::span<std::byte> sealed);

// Returns the bytes that were encrypted, or std::nullopt unless the tag at the end of `sealed` is
// that of the ciphertext, `associated`, the nonce and the key. All but the key can be untrusted.
// Throws std::bad_alloc.
[[nodiscard]] std::optional<Bytes>
xchacha20_decrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                  const XChaCha20Nonce& nonce, ByteView associated, ByteView sealed);

} // namespace clbin::base
