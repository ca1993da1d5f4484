// scrypt (RFC 7914), computed by libsodium.
#pragma once

#include "base/crypto/secret_bytes.hpp"

#include <cstdint>

namespace clbin::base {

// What a guess of a passphrase costs, in libsodium's numbers: about `operations` / 4 rounds of
// Salsa20/8 on `memory_bytes` of memory.
struct ScryptCost {
  std::uint64_t operations = 0;
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const ScryptCost&, const ScryptCost&) = default;
};
// What minisign writes: about 3 s and 1 GiB.
inline constexpr ScryptCost k_sensitive_cost{33554432, 1073741824};
// The least one that libsodium recommends, for tests: about 50 ms and 16 MiB.
inline constexpr ScryptCost k_interactive_cost{524288, 16777216};

// Derives `key_bytes` bytes from a passphrase. A cost above 2^32 operations or 4 GiB is refused
// (invalid_argument), because a file may have declared it. Errors: also out_of_memory.
[[nodiscard]] Result<SecretBytes> scrypt(ByteView passphrase, std::span<const std::byte, 32> salt,
                                         const ScryptCost& cost, std::size_t key_bytes);

} // namespace clbin::base
