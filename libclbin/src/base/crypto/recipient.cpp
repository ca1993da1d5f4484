#include "base/crypto/recipient.hpp"

#include "base/crypto/sodium_start.hpp"

#include <sodium.h>

namespace clbin::base {

namespace {

static_assert(sizeof(RecipientPublicKey) == crypto_box_PUBLICKEYBYTES);
static_assert(RecipientSecretKey::k_bytes == crypto_box_SECRETKEYBYTES);
static_assert(sizeof(SealedKey) == ContentKey::k_bytes + crypto_box_SEALBYTES);

const unsigned char* to_read(ByteView bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* to_write(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

} // namespace

std::string to_hex(const RecipientPublicKey& key) {
  return to_hex(Digest{key.bytes});
}

Result<SealedKey> seal(const ContentKey& key, const RecipientPublicKey& recipient) {
  start_sodium();
  SealedKey sealed{};
  const int status = crypto_box_seal(to_write(sealed), to_read(key.bytes()), key.bytes().size(),
                                     to_read(recipient.bytes));
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
  return crypto_scalarmult(product.data(), any_secret.data(), to_read(key.bytes)) == 0;
}

RecipientSecretKey::RecipientSecretKey(SecretBytes secret) : m_secret(std::move(secret)) {
  start_sodium();
  crypto_scalarmult_base(to_write(m_public.bytes), to_read(m_secret.view()));
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
  const int status = crypto_box_seal_open(to_write(key.writable()), to_read(sealed), sealed.size(),
                                          to_read(m_public.bytes), to_read(m_secret.view()));
  if (status != 0) {
    return fail(ErrorCode::wrong_key,
                "the content key is not sealed for recipient {}, or was changed", to_hex(m_public));
  }
  return ContentKey::from_bytes(key.view());
}

} // namespace clbin::base
