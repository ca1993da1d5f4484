// The machines that an object file can be made for.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace oclcc::embed {

enum class ByteOrder : std::uint8_t { little, big };

// What an ELF header says of its machine.
struct ObjectTarget {
  std::uint16_t machine = 0; // e_machine
  std::uint32_t flags = 0;   // e_flags: the calling convention, which linkers compare
  std::uint8_t address_bits = 64;
  ByteOrder byte_order = ByteOrder::little;
};

// Of a triple in the sense of gcc and clang, "aarch64-linux-gnu", of which the architecture and the
// floating-point convention count. invalid_argument: an architecture that is not known, or a system
// whose object files are not ELF.
[[nodiscard]] clbin::base::Result<ObjectTarget> object_target(std::string_view triple);

// Of this oclcc.
[[nodiscard]] std::string_view host_triple() noexcept;

} // namespace oclcc::embed
