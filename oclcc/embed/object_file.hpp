// An ELF object file around a bundle, made without a compiler.
#pragma once

#include "base/byte_codec.hpp"
#include "embed/object_target.hpp"

#include <cstdint>
#include <string_view>

namespace oclcc::embed {

// What stands before and after the bundle in the file; the bundle itself is not copied.
struct ObjectFrame {
  clbin::base::Bytes before;
  clbin::base::Bytes after;
};

// Of a relocatable object with the bundle in .rodata, 8-byte aligned, under the global symbol
// `symbol`, and its size in bytes, a size_t of the target, under `symbol`_size. The same input
// gives the same bytes. limit_exceeded: a bundle too large for a 32-bit target.
[[nodiscard]] clbin::base::Result<ObjectFrame>
frame_object(const ObjectTarget& target, std::string_view symbol, std::uint64_t bundle_bytes);

} // namespace oclcc::embed
