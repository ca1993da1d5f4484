#include "base/digest.hpp"

#include "base/crypto/sodium_bytes.hpp"
#include "base/crypto/sodium_start.hpp"

#include <algorithm>
#include <cassert>
#include <sodium.h>

namespace clbin::base {

namespace {

constexpr std::size_t k_digest_bytes = sizeof(Digest::bytes);
constexpr std::string_view k_hex_digits = "0123456789abcdef";

// Returns 16 for a character that is not a hexadecimal digit.
unsigned hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') {
    return static_cast<unsigned>(digit - '0');
  }
  if (digit >= 'a' && digit <= 'f') {
    return static_cast<unsigned>(digit - 'a') + 10U;
  }
  if (digit >= 'A' && digit <= 'F') {
    return static_cast<unsigned>(digit - 'A') + 10U;
  }
  return 16U;
}

} // namespace

Digest digest_of(ByteView bytes) {
  start_sodium();
  Digest digest;
  crypto_generichash(sodium_output(digest.bytes), k_digest_bytes, sodium_input(bytes), bytes.size(),
                     nullptr, 0);
  return digest;
}

std::string to_hex(const Digest& digest) {
  std::string text;
  text.reserve(2 * k_digest_bytes);
  for (const std::byte value : digest.bytes) {
    text.push_back(k_hex_digits[std::to_integer<std::size_t>(value >> 4U)]);
    text.push_back(k_hex_digits[std::to_integer<std::size_t>(value & std::byte{0x0f})]);
  }
  return text;
}

Result<Digest> digest_from_hex(std::string_view text) {
  if (text.size() != 2 * k_digest_bytes) {
    return fail(ErrorCode::invalid_argument, "a digest has {} hexadecimal digits, found {}",
                2 * k_digest_bytes, text.size());
  }
  Digest digest;
  for (std::size_t i = 0; i < k_digest_bytes; ++i) {
    const unsigned high = hex_value(text[2 * i]);
    const unsigned low = hex_value(text[2 * i + 1]);
    if (high > 15U || low > 15U) {
      return fail(ErrorCode::invalid_argument,
                  "digit {} or {} of the digest is not a hexadecimal one", 2 * i + 1, 2 * i + 2);
    }
    digest.bytes[i] = static_cast<std::byte>((high << 4U) | low);
  }
  return digest;
}

std::uint64_t leading_u64(const Digest& digest) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= std::to_integer<std::uint64_t>(digest.bytes[i]) << (8U * i);
  }
  return value;
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

void Hasher::add(ByteView bytes) {
  assert(!m_state->is_finished);
  crypto_generichash_update(&m_state->sodium, sodium_input(bytes), bytes.size());
}

void Hasher::add_field(ByteView bytes) {
  add_u64(bytes.size());
  add(bytes);
}

void Hasher::add_field(std::string_view text) {
  add_field(as_bytes(text));
}

void Hasher::add_u64(std::uint64_t value) {
  std::array<std::byte, sizeof value> bytes{};
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes[i] = static_cast<std::byte>((value >> (8U * i)) & 0xffU);
  }
  add(bytes);
}

Digest Hasher::finish() {
  assert(!m_state->is_finished);
  m_state->is_finished = true;
  Digest digest;
  crypto_generichash_final(&m_state->sodium, sodium_output(digest.bytes), k_digest_bytes);
  return digest;
}

} // namespace clbin::base
