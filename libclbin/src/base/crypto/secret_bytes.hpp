// Memory for keys and passphrases, random bytes, base64, and keys derived from passphrases.
#pragma once

#include "base/byte_codec.hpp"

#include <optional>

namespace clbin::base {

// Bytes that the destructor overwrites. They are not written to swap or to core dumps if the
// system allows to lock them, and are between inaccessible pages. They begin as zeros.
class SecretBytes {
public:
  SecretBytes() noexcept = default;
  // Throws std::bad_alloc.
  explicit SecretBytes(std::size_t size_bytes);
  // Copies `bytes`; the caller overwrites its own copy.
  [[nodiscard]] static SecretBytes copy_of(ByteView bytes);

  [[nodiscard]] std::size_t size() const noexcept { return m_size; }
  [[nodiscard]] ByteView view() const noexcept { return {m_bytes.get(), m_size}; }
  [[nodiscard]] std::span<std::byte> writable() noexcept { return {m_bytes.get(), m_size}; }
  // Overwrites the bytes beyond `size_bytes`, which must not exceed size(), and omits them.
  void shorten(std::size_t size_bytes) noexcept;

private:
  struct Wiped {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte, Wiped> m_bytes;
  std::size_t m_size = 0;
};

// Overwrites bytes that are not used any more; the compiler does not remove the stores.
void wipe(std::span<std::byte> bytes) noexcept;

// Fills `bytes` from the system's source of random numbers. If there is none, the process is
// aborted.
void fill_randomly(std::span<std::byte> bytes) noexcept;

// Base64 (RFC 4648, section 4) with padding, in time that does not depend on the bytes.
[[nodiscard]] std::string to_base64(ByteView bytes);
[[nodiscard]] SecretBytes to_secret_base64(ByteView bytes);
// Returns std::nullopt unless `text` is the canonical form, with padding and nothing else, of
// exactly `size_bytes` bytes.
[[nodiscard]] std::optional<SecretBytes> from_base64(std::string_view text, std::size_t size_bytes);

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

// Derives `key_bytes` bytes from a passphrase with scrypt (RFC 7914). A cost above 2^32 operations
// or 4 GiB is refused (invalid_argument), because a file may have declared it. Errors: also
// out_of_memory.
[[nodiscard]] Result<SecretBytes> scrypt(ByteView passphrase, std::span<const std::byte, 32> salt,
                                         const ScryptCost& cost, std::size_t key_bytes);

} // namespace clbin::base
