// The parts of an ELF file that identify it. Safe on any input.
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
  base::ByteView bytes; // empty if the section is not completely inside the file
};

// Sections may overlap: a file of a few MiB can list the same bytes as 65,535 sections.
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

// Returns std::nullopt unless `bytes` begin with a complete little-endian ELF header whose section
// table is inside them; a cut file is not recognised. Views in the result point into `bytes`.
[[nodiscard]] std::optional<ElfObject> parse_elf(base::ByteView bytes);

} // namespace clbin::format
