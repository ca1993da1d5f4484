// The key that encrypts the contents of a bundle, and the recipients who can open it with a key of
// their own. clbin(5), "Encryption", specifies what is derived from the key.
#pragma once

#include "base/crypto/secret_bytes.hpp"
#include "base/digest.hpp"

namespace clbin::base {

// Names a content key, and shows nothing of it.
struct ContentKeyId {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const ContentKeyId&, const ContentKeyId&) = default;
};

// Nonce and tag, which the encrypted bytes have besides the plaintext.
inline constexpr std::size_t k_encryption_bytes = 40;

// Immutable and thread-safe. The destructor of the last owner overwrites the key and its subkeys.
class ContentKey {
public:
  static constexpr std::size_t k_bytes = 32;

  [[nodiscard]] static std::shared_ptr<const ContentKey> generate();
  // Copies `bytes`; the caller overwrites its own copy. Errors: invalid_argument, unless there are
  // 32 bytes.
  [[nodiscard]] static Result<std::shared_ptr<const ContentKey>> from_bytes(ByteView bytes);

  [[nodiscard]] const ContentKeyId& id() const noexcept { return m_id; }
  // Returns the digest that an encrypted bundle has in place of `raw_digest`.
  [[nodiscard]] Digest keyed(const Digest& raw_digest) const noexcept;

  // Returns nonce, ciphertext and tag. Equal arguments have equal results, because the nonce is a
  // keyed digest of both.
  [[nodiscard]] Bytes encrypt(ByteView associated, ByteView plain) const;
  // Returns the plaintext, in ordinary memory; std::nullopt unless `sealed` was made with this key
  // and these associated data. Safe on untrusted input.
  [[nodiscard]] std::optional<Bytes> decrypt(ByteView associated, ByteView sealed) const;

  // Returns false in a child of fork(), which does not get the key (SecretBytes).
  [[nodiscard]] bool is_present() const noexcept { return derived_id() == m_id; }

  // The key itself: 32 bytes.
  [[nodiscard]] ByteView bytes() const noexcept { return m_keys.view().first<k_bytes>(); }

private:
  explicit ContentKey(SecretBytes keys);
  enum class Subkey : std::uint8_t { cipher = 1, nonce = 2, raw_digest = 3, key_id = 4 };
  [[nodiscard]] std::span<const std::byte, k_bytes> subkey(Subkey which) const noexcept;
  [[nodiscard]] ContentKeyId derived_id() const noexcept;

  SecretBytes m_keys; // the key and its subkeys
  ContentKeyId m_id;
};

// ---- Recipients: X25519 (RFC 7748) and sealed boxes --------------------------------------------

struct RecipientPublicKey {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const RecipientPublicKey&, const RecipientPublicKey&) = default;
};
// Returns false for a point of small order, for which everybody knows the shared secret.
[[nodiscard]] bool is_usable(const RecipientPublicKey& key) noexcept;

// A content key that only the secret key of one recipient opens.
using SealedKey = std::array<std::byte, 80>;

// Seals a content key. Two calls have different results. Errors: invalid_argument, unless
// `recipient` is usable.
[[nodiscard]] Result<SealedKey> seal(const ContentKey& key, const RecipientPublicKey& recipient);

// The destructor overwrites the key.
class RecipientSecretKey {
public:
  static constexpr std::size_t k_bytes = 32;

  [[nodiscard]] static RecipientSecretKey generate();
  // Copies `bytes`; the caller overwrites its own copy. Errors: invalid_argument, unless there are
  // 32 bytes.
  [[nodiscard]] static Result<RecipientSecretKey> from_bytes(ByteView bytes);

  [[nodiscard]] RecipientPublicKey public_key() const noexcept { return m_public; }
  // Returns the content key that `sealed` contains. `sealed` can be untrusted. Errors: wrong_key,
  // if it is not sealed for this key or was changed.
  [[nodiscard]] Result<std::shared_ptr<const ContentKey>>
  open_sealed(const SealedKey& sealed) const;
  // The key itself: 32 bytes.
  [[nodiscard]] ByteView bytes() const noexcept { return m_secret.view(); }

private:
  explicit RecipientSecretKey(SecretBytes secret);

  SecretBytes m_secret;
  RecipientPublicKey m_public;
};

// ---- Authenticated encryption ------------------------------------------------------------------

inline constexpr std::size_t k_xchacha20_key_bytes = 32;
inline constexpr std::size_t k_xchacha20_nonce_bytes = 24;
inline constexpr std::size_t k_xchacha20_tag_bytes = 16;

using XChaCha20Nonce = std::array<std::byte, k_xchacha20_nonce_bytes>;

// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03). Writes the ciphertext and then the tag to
// `sealed`, which must have the size of `plain` and 16 bytes and must not overlap it. Two different
// messages must not have the same key and nonce.
void xchacha20_encrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                       const XChaCha20Nonce& nonce, ByteView associated, ByteView plain,
                       std::span<std::byte> sealed);

// Returns the plaintext; std::nullopt unless the tag at the end of `sealed` is that of the other
// arguments. All but the key can be untrusted. Throws std::bad_alloc.
[[nodiscard]] std::optional<Bytes>
xchacha20_decrypt(std::span<const std::byte, k_xchacha20_key_bytes> key,
                  const XChaCha20Nonce& nonce, ByteView associated, ByteView sealed);

} // namespace clbin::base
