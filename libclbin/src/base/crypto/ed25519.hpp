// Ed25519 (RFC 8032).
#pragma once

#include "base/crypto/secret_bytes.hpp"
#include "base/digest.hpp"

namespace clbin::base {

struct PublicKey {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

struct Signature {
  std::array<std::byte, 64> bytes{};
  friend auto operator<=>(const Signature&, const Signature&) = default;
};

// Returns whether `signature` is the signature of `message` by `key`. All three can be untrusted.
// A key of small order, a key or a point that is not encoded canonically, and a number that is not
// reduced never hold.
[[nodiscard]] bool holds(const Signature& signature, const PublicKey& key,
                         ByteView message) noexcept;

// Signs. The destructor overwrites the key.
class SecretKey {
public:
  [[nodiscard]] static SecretKey generate();
  // The seed is what RFC 8032 calls the private key.
  [[nodiscard]] static SecretKey from_seed(std::span<const std::byte, 32> seed);
  // The bytes are the seed and the public key, as libsodium and minisign store a secret key.
  // Errors: invalid_argument, if the public key is not that of the seed.
  [[nodiscard]] static Result<SecretKey> from_bytes(std::span<const std::byte, 64> bytes);

  [[nodiscard]] PublicKey public_key() const noexcept;
  // Equal keys and messages have equal signatures.
  [[nodiscard]] Signature sign(ByteView message) const noexcept;
  // The seed and the public key: 64 bytes.
  [[nodiscard]] ByteView bytes() const noexcept { return m_bytes.view(); }

private:
  explicit SecretKey(SecretBytes bytes) : m_bytes(std::move(bytes)) {}
  SecretBytes m_bytes;
};

} // namespace clbin::base
