// Memory for keys and passphrases, and random bytes.
#pragma once

#include "base/byte_codec.hpp"

#include <cstddef>
#include <memory>

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

} // namespace clbin::base
