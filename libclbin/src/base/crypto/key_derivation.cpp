#include "base/crypto/key_derivation.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"

#include <sodium.h>

namespace clbin::base {

namespace {

constexpr std::uint64_t k_max_operations = 1ULL << 32U;
constexpr std::uint64_t k_max_memory_bytes = 4ULL << 30U;

} // namespace

Result<SecretBytes> scrypt(ByteView passphrase, std::span<const std::byte, 32> salt,
                           const ScryptCost& cost, std::size_t key_bytes) {
  static_assert(crypto_pwhash_scryptsalsa208sha256_SALTBYTES == 32);
  if (cost.operations > k_max_operations || cost.memory_bytes > k_max_memory_bytes) {
    return fail(ErrorCode::invalid_argument,
                "scrypt with {} operations and {} bytes is above the limits of {} and {}",
                cost.operations, cost.memory_bytes, k_max_operations, k_max_memory_bytes);
  }
  start_sodium();
  SecretBytes key(key_bytes);
  const int status = crypto_pwhash_scryptsalsa208sha256(
      sodium_output(key.writable()), key_bytes, as_text(passphrase).data(), passphrase.size(),
      sodium_input(salt), cost.operations, static_cast<std::size_t>(cost.memory_bytes));
  if (status != 0) {
    return fail(ErrorCode::out_of_memory, "scrypt: no {} bytes of memory", cost.memory_bytes);
  }
  return key;
}

} // namespace clbin::base
