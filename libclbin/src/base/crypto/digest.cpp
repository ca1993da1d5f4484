#include "base/digest.hpp"

#include "base/crypto/sodium.hpp"

#include <cassert>
#include <charconv>

namespace clbin::base {

namespace {

constexpr std::size_t k_digest_bytes = sizeof(Digest::bytes);

std::string hex_of(ByteView bytes, std::string_view digits) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte value : bytes) {
    text += digits[std::to_integer<std::size_t>(value >> 4U)];
    text += digits[std::to_integer<std::size_t>(value & std::byte{0x0f})];
  }
  return text;
}

// Sets each byte to two digits of `text`, which has enough. `name` is that of the text in messages.
Result<void> read_hex(std::string_view text, std::string_view name, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* const begin = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || end != begin + 2) {
      return fail(ErrorCode::invalid_argument, "digit {} or {} of the {} is not a hexadecimal one",
                  2 * i + 1, 2 * i + 2, name);
    }
    bytes[i] = static_cast<std::byte>(value);
  }
  return {};
}

} // namespace

Digest digest_of(ByteView bytes) {
  start_sodium();
  Digest digest;
  crypto_generichash(sodium_output(digest.bytes), k_digest_bytes, sodium_input(bytes), bytes.size(),
                     nullptr, 0);
  return digest;
}

Digest sha256_of(ByteView bytes) {
  start_sodium();
  Digest digest;
  crypto_hash_sha256(sodium_output(digest.bytes), sodium_input(bytes), bytes.size());
  return digest;
}

std::string to_hex(ByteView bytes) {
  return hex_of(bytes, "0123456789abcdef");
}

std::string to_upper_hex(ByteView bytes) {
  return hex_of(bytes, "0123456789ABCDEF");
}

Result<Bytes> bytes_from_hex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return fail(ErrorCode::invalid_argument, "an odd number of hexadecimal digits: {}",
                text.size());
  }
  Bytes bytes(text.size() / 2);
  CLBIN_TRY(read_hex(text, "text", bytes));
  return bytes;
}

Result<Digest> digest_from_hex(std::string_view text) {
  if (text.size() != 2 * k_digest_bytes) {
    return fail(ErrorCode::invalid_argument, "a digest has {} hexadecimal digits, found {}",
                2 * k_digest_bytes, text.size());
  }
  Digest digest;
  CLBIN_TRY(read_hex(text, "digest", digest.bytes));
  return digest;
}

struct Hasher::State {
  crypto_generichash_state sodium;
  bool is_finished = false;
};

Hasher::Hasher() : m_state(std::make_unique<State>()) {
  start_sodium();
  crypto_generichash_init(&m_state->sodium, nullptr, 0, k_digest_bytes);
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(ByteView bytes) {
  assert(!m_state->is_finished);
  crypto_generichash_update(&m_state->sodium, sodium_input(bytes), bytes.size());
  return *this;
}

Digest Hasher::finish() {
  assert(!m_state->is_finished);
  m_state->is_finished = true;
  Digest digest;
  crypto_generichash_final(&m_state->sodium, sodium_output(digest.bytes), k_digest_bytes);
  return digest;
}

} // namespace clbin::base
