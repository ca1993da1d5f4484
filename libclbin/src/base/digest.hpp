// BLAKE2b-256 (RFC 7693), from libsodium.
#pragma once

#include "base/byte_codec.hpp"

#include <array>
#include <compare>
#include <memory>
#include <string>

namespace clbin::base {

struct Digest {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

[[nodiscard]] Digest digest_of(ByteView bytes);
// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const Digest& digest);
// Nothing unless `text` is 64 hexadecimal digits.
[[nodiscard]] Result<Digest> digest_from_hex(std::string_view text);
// The first eight bytes as a little-endian number: a sort key, never an identity.
[[nodiscard]] std::uint64_t leading_u64(const Digest& digest) noexcept;

// Digests parts one after another.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void add(ByteView bytes);
  // Length first, so that ("ab", "c") and ("a", "bc") differ.
  void add_field(ByteView bytes);
  void add_field(std::string_view text);
  void add_u64(std::uint64_t value);
  // May be called once.
  [[nodiscard]] Digest finish();

private:
  struct State;
  std::unique_ptr<State> m_state;
};

} // namespace clbin::base
