// BLAKE2b-256 (RFC 7693).
#pragma once

#include "base/byte_codec.hpp"

#include <compare>

namespace clbin::base {

struct Digest {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

[[nodiscard]] Digest digest_of(ByteView bytes);
// Returns SHA-256 (FIPS 180-4), for documents that others read.
[[nodiscard]] Digest sha256_of(ByteView bytes);
// Return two hexadecimal digits a byte; those of to_hex are lower-case.
[[nodiscard]] std::string to_hex(ByteView bytes);
[[nodiscard]] std::string to_upper_hex(ByteView bytes);
// Returns the lower-case digits of the bytes of a digest, a key or the id of one.
template <typename T>
requires requires(const T& value) {
  ByteView(value.bytes);
}
[[nodiscard]] std::string to_hex(const T& value) {
  return to_hex(ByteView(value.bytes));
}
// Returns invalid_argument unless `text` consists of hexadecimal digits, two a byte.
[[nodiscard]] Result<Bytes> bytes_from_hex(std::string_view text);
// Returns invalid_argument unless `text` consists of exactly 64 hexadecimal digits.
[[nodiscard]] Result<Digest> digest_from_hex(std::string_view text);
// Returns the first eight bytes as a little-endian number, which is a sort key and never an
// identity.
[[nodiscard]] inline std::uint64_t leading_u64(const Digest& digest) noexcept {
  return from_little_endian<std::uint64_t>(digest.bytes);
}

// Computes the digest of consecutive parts.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  // Each function that adds a part returns this object.
  Hasher& add(ByteView bytes);
  // Adds the length, then the bytes: ("ab", "c") and ("a", "bc") have different digests.
  Hasher& add_field(ByteView bytes) { return add_u64(bytes.size()).add(bytes); }
  Hasher& add_field(std::string_view text) { return add_field(as_bytes(text)); }
  Hasher& add_u64(std::uint64_t value) { return add(little_endian(value)); }
  // Can be called only once.
  [[nodiscard]] Digest finish();

private:
  struct State;
  std::unique_ptr<State> m_state;
};

} // namespace clbin::base
