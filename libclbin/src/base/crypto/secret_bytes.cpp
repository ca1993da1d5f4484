#include "base/crypto/secret_bytes.hpp"

#include "base/crypto/sodium.hpp"
#include "base/system/process.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace clbin::base {

namespace {

constexpr int k_base64_variant = sodium_base64_VARIANT_ORIGINAL;
constexpr std::uint64_t k_max_operations = 1ULL << 32U;
constexpr std::uint64_t k_max_memory_bytes = 4ULL << 30U;

std::size_t base64_size(std::size_t size_bytes) noexcept {
  return (size_bytes + 2) / 3 * 4;
}

// The bytes are whole pages, so that those that a copy of the process does not get contain nothing
// of sodium_free, which ends a process whose memory it does not recognize.
std::size_t whole_pages(std::size_t size_bytes) noexcept {
  const std::size_t page = page_bytes();
  return (std::max<std::size_t>(size_bytes, 1) + page - 1) / page * page;
}

} // namespace

SecretBytes::SecretBytes(std::size_t size_bytes) : m_size(size_bytes) {
  start_sodium();
  const std::size_t allocated = whole_pages(size_bytes);
  m_bytes.reset(static_cast<std::byte*>(sodium_malloc(allocated)));
  if (m_bytes == nullptr) {
    throw std::bad_alloc();
  }
  omit_in_forks({m_bytes.get(), allocated});
  std::fill_n(m_bytes.get(), size_bytes, std::byte{0});
}

SecretBytes SecretBytes::copy_of(ByteView bytes) {
  SecretBytes copy(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.writable().begin());
  return copy;
}

void SecretBytes::shorten(std::size_t size_bytes) noexcept {
  assert(size_bytes <= m_size);
  wipe(writable().subspan(size_bytes));
  m_size = size_bytes;
}

void SecretBytes::Wiped::operator()(std::byte* bytes) const noexcept {
  sodium_free(bytes); // overwrites them first
}

void wipe(std::span<std::byte> bytes) noexcept {
  sodium_memzero(bytes.data(), bytes.size());
}

void fill_randomly(std::span<std::byte> bytes) noexcept {
  start_sodium();
  randombytes_buf(bytes.data(), bytes.size());
}

SecretBytes to_secret_base64(ByteView bytes) {
  const std::size_t characters = base64_size(bytes.size());
  SecretBytes text(characters + 1);
  sodium_bin2base64(reinterpret_cast<char*>(text.writable().data()), text.size(),
                    sodium_input(bytes), bytes.size(), k_base64_variant);
  text.shorten(characters); // no null terminator
  return text;
}

std::string to_base64(ByteView bytes) {
  return std::string(as_text(to_secret_base64(bytes).view()));
}

std::optional<SecretBytes> from_base64(std::string_view text, std::size_t size_bytes) {
  if (text.size() != base64_size(size_bytes)) {
    return std::nullopt;
  }
  SecretBytes bytes(size_bytes);
  std::size_t decoded = 0;
  const int status = sodium_base642bin(sodium_output(bytes.writable()), size_bytes, text.data(),
                                       text.size(), nullptr, &decoded, nullptr, k_base64_variant);
  return status == 0 && decoded == size_bytes ? std::optional(std::move(bytes)) : std::nullopt;
}

Result<SecretBytes> scrypt(ByteView passphrase, std::span<const std::byte, 32> salt,
                           const ScryptCost& cost, std::size_t key_bytes) {
  static_assert(crypto_pwhash_scryptsalsa208sha256_SALTBYTES == 32);
  if (cost.operations > k_max_operations || cost.memory_bytes > k_max_memory_bytes) {
    return fail(ErrorCode::invalid_argument,
                "scrypt with {} operations and {} bytes is above the limits of {} and {}",
                cost.operations, cost.memory_bytes, k_max_operations, k_max_memory_bytes);
  }
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
