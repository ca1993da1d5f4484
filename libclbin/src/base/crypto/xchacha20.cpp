#include "base/crypto/xchacha20.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"

#include <cassert>
#include <sodium.h>

namespace clbin::base {

namespace {

static_assert(k_xchacha20_key_bytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(k_xchacha20_nonce_bytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(k_xchacha20_tag_bytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

} // namespace

void xchacha20_encrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                       const XChaCha20Nonce& nonce, ByteView associated, ByteView plain,
                       std::span<std::byte> sealed) {
  assert(sealed.size() == plain.size() + k_xchacha20_tag_bytes);
  start_sodium();
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      sodium_output(sealed), nullptr, sodium_input(plain), plain.size(), sodium_input(associated),
      associated.size(), nullptr, sodium_input(nonce), sodium_input(key));
}

std::optional<Bytes> xchacha20_decrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                                       const XChaCha20Nonce& nonce, ByteView associated,
                                       ByteView sealed) {
  if (sealed.size() < k_xchacha20_tag_bytes) {
    return std::nullopt;
  }
  start_sodium();
  Bytes plain(sealed.size() - k_xchacha20_tag_bytes);
  const int status = crypto_aead_xchacha20poly1305_ietf_decrypt(
      sodium_output(plain), nullptr, nullptr, sodium_input(sealed), sealed.size(),
      sodium_input(associated), associated.size(), sodium_input(nonce), sodium_input(key));
  if (status != 0) {
    return std::nullopt;
  }
  return plain;
}

} // namespace clbin::base
