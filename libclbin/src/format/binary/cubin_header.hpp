#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"

namespace clbin::format {

// `object` must be an ELF file of machine k_elf_machine_cuda.
[[nodiscard]] BinaryInfo read_cubin(const ElfObject& object);

} // namespace clbin::format
