// Who can open an encrypted bundle with a key of their own: X25519 (RFC 7748) and sealed boxes,
// computed by libsodium.
#pragma once

#include "base/crypto/content_key.hpp"

#include <array>
#include <compare>
#include <memory>
#include <span>
#include <string>

namespace clbin::base {

struct RecipientPublicKey {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const RecipientPublicKey&, const RecipientPublicKey&) = default;
};
// Returns 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const RecipientPublicKey& key);
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

} // namespace clbin::base
