// libsodium, and bytes as it reads and writes them: for the sources of this folder alone.
#pragma once

#include "base/byte_codec.hpp"

#include <sodium.h>

namespace clbin::base {

// Chooses libsodium's fastest implementations for this processor and opens its source of random
// bytes. A failure needs no handling: hashing and checking signatures are correct without this
// call, and random_bytes then ends the process. Thread-safe.
inline void start_sodium() noexcept {
  static const int status = sodium_init();
  (void)status;
}

// The pointers are valid as long as the bytes.
[[nodiscard]] inline const unsigned char* sodium_input(ByteView bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
[[nodiscard]] inline unsigned char* sodium_output(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

} // namespace clbin::base
