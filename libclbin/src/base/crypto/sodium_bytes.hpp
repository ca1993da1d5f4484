// Bytes as libsodium reads and writes them. Used by the sources of this folder, which alone include
// libsodium.
#pragma once

#include "base/byte_codec.hpp"

#include <cstddef>
#include <span>

namespace clbin::base {

// The pointers are valid as long as the bytes.
[[nodiscard]] inline const unsigned char* sodium_input(ByteView bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
[[nodiscard]] inline unsigned char* sodium_output(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

} // namespace clbin::base
