// The target machines of object files.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace oclcc::embed {

enum class ByteOrder : std::uint8_t { little, big };

// The fields of an ELF header that describe the machine.
struct ObjectTarget {
  std::uint16_t machine = 0; // e_machine
  std::uint32_t flags = 0;   // e_flags: the calling convention, which linkers compare
  std::uint8_t address_bits = 64;
  ByteOrder byte_order = ByteOrder::little;
};

// Returns the target of a triple of gcc and clang, such as "aarch64-linux-gnu". Only the
// architecture and the floating-point convention matter. invalid_argument: the architecture is
// unknown, or the system does not use ELF.
[[nodiscard]] clbin::base::Result<ObjectTarget> object_target(std::string_view triple);

// Returns the triple for which oclcc was built.
[[nodiscard]] std::string_view host_triple() noexcept;

} // namespace oclcc::embed
