#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"

namespace clbin::format {

// `object` must be an ELF file of machine k_elf_machine_intel_gt, or of an e_type from 0xff11 to
// 0xff13.
[[nodiscard]] BinaryInfo read_intel_zebin(const ElfObject& object);
// Returns true for e_type ET_ZEBIN_REL, ET_ZEBIN_EXE and ET_ZEBIN_DYN: e_machine of such files is a
// product family.
[[nodiscard]] bool is_zebin_type(std::uint16_t elf_type) noexcept;

} // namespace clbin::format
