// The parts of an ELF file that tell what it is. Safe on any input.
#pragma once

#include "base/byte_codec.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace clbin::format {

inline constexpr std::uint16_t k_elf_machine_cuda = 190;
inline constexpr std::uint16_t k_elf_machine_intel_gt = 205;
inline constexpr std::uint16_t k_elf_machine_amdgpu = 224;
inline constexpr std::uint32_t k_elf_section_note = 7;

struct ElfSection {
  std::uint32_t type = 0;
  base::ByteView bytes; // empty when the section is not wholly inside the file
};

// Sections may overlap: a file of a few MiB can name one of them 65,535 times.
struct ElfObject {
  std::uint8_t address_bits = 0; // 32 or 64
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::size_t file_bytes = 0;
  std::vector<ElfSection> sections;
};

// Nothing unless `bytes` begin with a whole little-endian ELF header whose section table lies
// inside them: a file that was cut is not recognised. Views in the result point into `bytes`.
[[nodiscard]] std::optional<ElfObject> parse_elf(base::ByteView bytes);

} // namespace clbin::format
