// The key that encrypts the contents of a bundle. clbin(5), "Encryption", specifies what is derived
// from it.
#pragma once

#include "base/crypto/secret_bytes.hpp"
#include "base/digest.hpp"

#include <array>
#include <compare>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace clbin::base {

// Names a content key, and shows nothing of it.
struct ContentKeyId {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const ContentKeyId&, const ContentKeyId&) = default;
};
// Returns 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const ContentKeyId& id);

// Nonce and tag: how many bytes more than the plaintext the encrypted bytes are.
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
  // Returns the bytes that were encrypted, in ordinary memory; std::nullopt unless `sealed` was
  // made with this key and these associated data. Safe on untrusted input.
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

} // namespace clbin::base
