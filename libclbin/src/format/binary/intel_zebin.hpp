#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"

namespace clbin::format {

// `object` is an ELF file of machine k_elf_machine_intel_gt, or one of e_type 0xff11 to 0xff13.
[[nodiscard]] BinaryInfo read_intel_zebin(const ElfObject& object);
// e_type ET_ZEBIN_REL, ET_ZEBIN_EXE or ET_ZEBIN_DYN: such files hold a product family in e_machine.
[[nodiscard]] bool is_zebin_type(std::uint16_t elf_type) noexcept;

} // namespace clbin::format
