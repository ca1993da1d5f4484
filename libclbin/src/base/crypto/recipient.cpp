#include "base/crypto/recipient.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"

#include <sodium.h>

namespace clbin::base {

namespace {

static_assert(sizeof(RecipientPublicKey) == crypto_box_PUBLICKEYBYTES);
static_assert(RecipientSecretKey::k_bytes == crypto_box_SECRETKEYBYTES);
static_assert(sizeof(SealedKey) == ContentKey::k_bytes + crypto_box_SEALBYTES);

} // namespace

std::string to_hex(const RecipientPublicKey& key) {
  return to_hex(Digest{key.bytes});
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

} // namespace clbin::base
