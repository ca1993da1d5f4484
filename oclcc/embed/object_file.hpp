// Creates an ELF object file with a bundle, without a compiler.
#pragma once

#include "base/byte_codec.hpp"
#include "embed/object_target.hpp"

#include <cstdint>
#include <string_view>

namespace oclcc::embed {

// The bytes before and after the bundle in the file. The bundle itself is not copied.
struct ObjectFrame {
  clbin::base::Bytes before;
  clbin::base::Bytes after;
};

// Returns the frame of a relocatable object file. It contains the bundle in .rodata, 8-byte
// aligned, as the global symbol `symbol`, and its size in bytes, a size_t of the target, as
// `symbol`_size. The result is deterministic. limit_exceeded: the bundle is too large for a 32-bit
// target.
[[nodiscard]] clbin::base::Result<ObjectFrame>
frame_object(const ObjectTarget& target, std::string_view symbol, std::uint64_t bundle_bytes);

} // namespace oclcc::embed
