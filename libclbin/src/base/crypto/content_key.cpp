#include "base/crypto/content_key.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"
#include "base/crypto/xchacha20.hpp"

#include <algorithm>
#include <sodium.h>

namespace clbin::base {

namespace {

constexpr std::array<char, crypto_kdf_CONTEXTBYTES> k_kdf_context = {'c', 'l', 'b', 'i',
                                                                     'n', 'e', 'n', 'c'};
constexpr std::string_view k_id_text = "clbin-key-id-1";
constexpr std::size_t k_subkey_count = 4;
static_assert(ContentKey::k_bytes == crypto_kdf_KEYBYTES);
static_assert(k_encryption_bytes == k_xchacha20_nonce_bytes + k_xchacha20_tag_bytes);

// Returns the key, which `fill` writes, followed by its subkeys.
template <typename Fill>
SecretBytes with_subkeys(const Fill& fill) {
  start_sodium();
  constexpr std::size_t k_size = ContentKey::k_bytes;
  SecretBytes keys((1 + k_subkey_count) * k_size);
  fill(keys.writable().first(k_size));
  for (std::size_t id = 1; id <= k_subkey_count; ++id) {
    crypto_kdf_derive_from_key(sodium_output(keys.writable().subspan(id * k_size, k_size)), k_size,
                               id, k_kdf_context.data(), sodium_input(keys.view()));
  }
  return keys;
}

// BLAKE2b with a key and as many bytes as `out` has.
void keyed_digest(std::span<const std::byte, ContentKey::k_bytes> key, ByteView first,
                  ByteView second, std::span<std::byte> out) noexcept {
  crypto_generichash_state state;
  crypto_generichash_init(&state, sodium_input(key), key.size(), out.size());
  crypto_generichash_update(&state, sodium_input(first), first.size());
  crypto_generichash_update(&state, sodium_input(second), second.size());
  crypto_generichash_final(&state, sodium_output(out), out.size());
  sodium_memzero(&state, sizeof state);
}

} // namespace

std::string to_hex(const ContentKeyId& id) {
  return to_hex(Digest{id.bytes});
}

ContentKey::ContentKey(SecretBytes keys) : m_keys(std::move(keys)), m_id(derived_id()) {}

ContentKeyId ContentKey::derived_id() const noexcept {
  ContentKeyId id;
  keyed_digest(subkey(Subkey::key_id), as_bytes(k_id_text), {}, id.bytes);
  return id;
}

std::shared_ptr<const ContentKey> ContentKey::generate() {
  return std::shared_ptr<const ContentKey>(
      new ContentKey(with_subkeys([](std::span<std::byte> key) { fill_randomly(key); })));
}

Result<std::shared_ptr<const ContentKey>> ContentKey::from_bytes(ByteView bytes) {
  if (bytes.size() != k_bytes) {
    return fail(ErrorCode::invalid_argument, "a content key has {} bytes, not {}", k_bytes,
                bytes.size());
  }
  return std::shared_ptr<const ContentKey>(new ContentKey(with_subkeys(
      [bytes](std::span<std::byte> key) { std::copy(bytes.begin(), bytes.end(), key.begin()); })));
}

std::span<const std::byte, ContentKey::k_bytes> ContentKey::subkey(Subkey which) const noexcept {
  return m_keys.view().subspan(static_cast<std::size_t>(which) * k_bytes).first<k_bytes>();
}

Digest ContentKey::keyed(const Digest& raw_digest) const noexcept {
  Digest digest;
  keyed_digest(subkey(Subkey::raw_digest), raw_digest.bytes, {}, digest.bytes);
  return digest;
}

Bytes ContentKey::encrypt(ByteView associated, ByteView plain) const {
  XChaCha20Nonce nonce{};
  keyed_digest(subkey(Subkey::nonce), associated, plain, nonce);
  Bytes sealed(plain.size() + k_encryption_bytes);
  std::copy(nonce.begin(), nonce.end(), sealed.begin());
  xchacha20_encrypt(subkey(Subkey::cipher), nonce, associated, plain,
                    std::span(sealed).subspan(nonce.size()));
  return sealed;
}

std::optional<Bytes> ContentKey::decrypt(ByteView associated, ByteView sealed) const {
  if (sealed.size() < k_encryption_bytes) {
    return std::nullopt;
  }
  XChaCha20Nonce nonce{};
  std::copy_n(sealed.begin(), nonce.size(), nonce.begin());
  return xchacha20_decrypt(subkey(Subkey::cipher), nonce, associated, sealed.subspan(nonce.size()));
}

} // namespace clbin::base
