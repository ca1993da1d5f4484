#include "base/crypto/ed25519.hpp"

#include "base/crypto/sodium.hpp"

#include <algorithm>

namespace clbin::base {

namespace {

static_assert(sizeof(PublicKey) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(Signature) == crypto_sign_BYTES);
constexpr std::size_t k_seed_bytes = crypto_sign_SEEDBYTES;
constexpr std::size_t k_sodium_key_bytes = crypto_sign_SECRETKEYBYTES;

} // namespace

bool holds(const Signature& signature, const PublicKey& key, ByteView message) noexcept {
  start_sodium();
  return crypto_sign_verify_detached(sodium_input(signature.bytes), sodium_input(message),
                                     message.size(), sodium_input(key.bytes)) == 0;
}

SecretKey SecretKey::generate() {
  SecretBytes seed(k_seed_bytes);
  fill_randomly(seed.writable());
  return from_seed(seed.view().first<k_seed_bytes>());
}

SecretKey SecretKey::from_seed(std::span<const std::byte, 32> seed) {
  start_sodium();
  SecretBytes secret(k_sodium_key_bytes);
  PublicKey key;
  crypto_sign_seed_keypair(sodium_output(key.bytes), sodium_output(secret.writable()),
                           sodium_input(seed));
  return SecretKey(std::move(secret));
}

Result<SecretKey> SecretKey::from_bytes(std::span<const std::byte, 64> bytes) {
  SecretKey key = from_seed(bytes.first<k_seed_bytes>());
  if (!std::equal(bytes.begin() + k_seed_bytes, bytes.end(), key.bytes().begin() + k_seed_bytes)) {
    return fail(ErrorCode::invalid_argument, "the public key is not that of the secret key");
  }
  return key;
}

PublicKey SecretKey::public_key() const noexcept {
  PublicKey key;
  const ByteView bytes = m_bytes.view().subspan(k_seed_bytes);
  std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
  return key;
}

Signature SecretKey::sign(ByteView message) const noexcept {
  Signature signature;
  crypto_sign_detached(sodium_output(signature.bytes), nullptr, sodium_input(message),
                       message.size(), sodium_input(m_bytes.view()));
  return signature;
}

} // namespace clbin::base
