#include "base/crypto/ed25519.hpp"

#include "base/crypto/sodium_start.hpp"

#include <algorithm>
#include <sodium.h>

namespace clbin::base {

namespace {

static_assert(sizeof(PublicKey) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(Signature) == crypto_sign_BYTES);
constexpr std::size_t k_seed_bytes = crypto_sign_SEEDBYTES;
constexpr std::size_t k_sodium_key_bytes = crypto_sign_SECRETKEYBYTES;
constexpr std::string_view k_id_digits = "0123456789abcdef";

const unsigned char* sodium_bytes(ByteView bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* output_of(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

} // namespace

std::string to_hex(const PublicKey& key) {
  std::string text;
  text.reserve(2 * key.bytes.size());
  for (const std::byte value : key.bytes) {
    text.push_back(k_id_digits[std::to_integer<std::size_t>(value >> 4U)]);
    text.push_back(k_id_digits[std::to_integer<std::size_t>(value & std::byte{0x0f})]);
  }
  return text;
}

bool holds(const Signature& signature, const PublicKey& key, ByteView message) noexcept {
  start_sodium();
  return crypto_sign_verify_detached(sodium_bytes(signature.bytes), sodium_bytes(message),
                                     message.size(), sodium_bytes(key.bytes)) == 0;
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
  crypto_sign_seed_keypair(output_of(key.bytes), output_of(secret.writable()), sodium_bytes(seed));
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
  crypto_sign_detached(output_of(signature.bytes), nullptr, sodium_bytes(message), message.size(),
                       sodium_bytes(m_bytes.view()));
  return signature;
}

} // namespace clbin::base
