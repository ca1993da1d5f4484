#include "base/crypto/content_key.hpp"

#include "base/crypto/sodium.hpp"

#include <algorithm>
#include <cassert>

namespace clbin::base {

namespace {

constexpr std::array<char, crypto_kdf_CONTEXTBYTES> k_kdf_context = {'c', 'l', 'b', 'i',
                                                                     'n', 'e', 'n', 'c'};
constexpr std::string_view k_id_text = "clbin-key-id-1";
constexpr std::size_t k_subkey_count = 4;
static_assert(ContentKey::k_bytes == crypto_kdf_KEYBYTES);
static_assert(k_encryption_bytes == k_xchacha20_nonce_bytes + k_xchacha20_tag_bytes);
static_assert(sizeof(RecipientPublicKey) == crypto_box_PUBLICKEYBYTES);
static_assert(RecipientSecretKey::k_bytes == crypto_box_SECRETKEYBYTES);
static_assert(sizeof(SealedKey) == ContentKey::k_bytes + crypto_box_SEALBYTES);
static_assert(k_xchacha20_key_bytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(k_xchacha20_nonce_bytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(k_xchacha20_tag_bytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

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
  XChaCha20Nonce nonce{};
  if (sealed.size() < nonce.size()) {
    return std::nullopt;
  }
  std::copy_n(sealed.begin(), nonce.size(), nonce.begin());
  return xchacha20_decrypt(subkey(Subkey::cipher), nonce, associated, sealed.subspan(nonce.size()));
}

Result<SealedKey> seal(const ContentKey& key, const RecipientPublicKey& recipient) {
  start_sodium();
  SealedKey sealed{};
  const int status = crypto_box_seal(sodium_output(sealed), sodium_input(key.bytes()),
                                     key.bytes().size(), sodium_input(recipient.bytes));
  if (status != 0) {
    return fail(ErrorCode::invalid_argument, "{} is not the public key of a recipient",
                to_hex(recipient));
  }
  return sealed;
}

bool is_usable(const RecipientPublicKey& key) noexcept {
  start_sodium();
  // libsodium refuses a product that is 0, which every secret key makes of a point of small order.
  const std::array<unsigned char, crypto_scalarmult_SCALARBYTES> any_secret{1};
  std::array<unsigned char, crypto_scalarmult_BYTES> product{};
  return crypto_scalarmult(product.data(), any_secret.data(), sodium_input(key.bytes)) == 0;
}

RecipientSecretKey::RecipientSecretKey(SecretBytes secret) : m_secret(std::move(secret)) {
  start_sodium();
  crypto_scalarmult_base(sodium_output(m_public.bytes), sodium_input(m_secret.view()));
}

RecipientSecretKey RecipientSecretKey::generate() {
  SecretBytes secret(k_bytes);
  fill_randomly(secret.writable());
  return RecipientSecretKey(std::move(secret));
}

Result<RecipientSecretKey> RecipientSecretKey::from_bytes(ByteView bytes) {
  if (bytes.size() != k_bytes) {
    return fail(ErrorCode::invalid_argument, "the secret key of a recipient has {} bytes, not {}",
                k_bytes, bytes.size());
  }
  return RecipientSecretKey(SecretBytes::copy_of(bytes));
}

Result<std::shared_ptr<const ContentKey>>
RecipientSecretKey::open_sealed(const SealedKey& sealed) const {
  SecretBytes key(ContentKey::k_bytes);
  const int status =
      crypto_box_seal_open(sodium_output(key.writable()), sodium_input(sealed), sealed.size(),
                           sodium_input(m_public.bytes), sodium_input(m_secret.view()));
  if (status != 0) {
    return fail(ErrorCode::wrong_key,
                "the content key is not sealed for recipient {}, or was changed", to_hex(m_public));
  }
  return ContentKey::from_bytes(key.view());
}

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
