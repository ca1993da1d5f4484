// The parts of an ELF file that identify it, and what they say about a device binary. Safe on any
// input.
#pragma once

#include "format/binary/binary_kind.hpp"

namespace clbin::format {

inline constexpr std::uint16_t k_elf_machine_cuda = 190;
inline constexpr std::uint16_t k_elf_machine_intel_gt = 205;
inline constexpr std::uint16_t k_elf_machine_amdgpu = 224;
inline constexpr std::uint32_t k_elf_section_note = 7;

struct ElfSection {
  std::uint32_t name = 0; // where its name starts in ElfObject::names
  std::uint32_t type = 0;
  std::uint32_t link = 0; // of a symbol table: the section with the names
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  ByteView bytes; // empty if the section is not completely inside the file
};

// Sections may overlap: a file of a few MiB can list the same bytes as 65,535 sections.
struct ElfObject {
  std::uint8_t address_bits = 0; // 32 or 64
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  ByteView file;
  std::vector<ElfSection> sections;
  ByteView names; // of sections, each with a null character; empty if there are none
};

// Returns std::nullopt unless `bytes` begin with a complete little-endian ELF header whose section
// table is inside them; a cut file is not recognised. Views in the result point into `bytes`.
[[nodiscard]] std::optional<ElfObject> parse_elf(ByteView bytes);
// Returns the ELF files in a file of another kind that contains them as they are, such as a binary
// of PoCL, in order and without common bytes. Each ends with its section table, as linkers write
// it. Memory and time are proportional to the size of `bytes`.
[[nodiscard]] std::vector<ElfObject> elf_objects_inside(ByteView bytes);

// Reads names of symbols and sections. All of them can be the same text, so that the names of all
// calls together are limited to 16 MiB + 4 times the size of the file.
class ElfNames {
public:
  explicit ElfNames(ByteView file) noexcept
      : m_limit((std::uint64_t{16} << 20U) + 4 * std::uint64_t{file.size()}),
        m_bytes_left(m_limit) {}

  // Returns the text that starts at `offset` of a table, without its null character; an empty text
  // outside the table. Error: limit_exceeded.
  [[nodiscard]] Result<std::string_view> at(ByteView table, std::uint32_t offset);

private:
  std::uint64_t m_limit;
  std::uint64_t m_bytes_left;
};

struct ElfSymbol {
  std::uint32_t name = 0; // where its name starts in the table of names
  bool is_function = false;
  std::uint8_t other = 0;
  std::uint16_t section = 0; // the number of that which contains it
  std::uint64_t value = 0;   // its address
  std::uint64_t size_bytes = 0;
};
inline constexpr std::uint32_t k_elf_section_symbols = 2;
inline constexpr std::uint32_t k_elf_section_dynamic_symbols = 11;
inline constexpr std::size_t k_elf_symbol_bytes = 24;
// Reads the next symbol of a file of 64 bits. Error: truncated.
[[nodiscard]] Result<ElfSymbol> read_elf_symbol(ByteReader& reader);

struct ElfNote {
  std::uint32_t type = 0;
  std::string_view owner; // with its null characters
  ByteView value;
};
// Reads the next note of a section of type k_elf_section_note.
[[nodiscard]] Result<ElfNote> read_elf_note(ByteReader& reader);

// Requires machine k_elf_machine_cuda.
[[nodiscard]] BinaryInfo read_cubin(const ElfObject& object);
// Requires machine k_elf_machine_amdgpu. Returns BinaryKind::unknown unless the object is for HSA.
// The architecture is absent for a code object of version 2 or of an unknown processor.
[[nodiscard]] BinaryInfo read_amd_code_object(const ElfObject& object);
// Returns whether the file is a zebin: e_type is ET_ZEBIN_REL, ET_ZEBIN_EXE or ET_ZEBIN_DYN, for
// which e_machine is a product family, or the machine is k_elf_machine_intel_gt.
[[nodiscard]] bool is_zebin(const ElfObject& object) noexcept;
// Requires is_zebin().
[[nodiscard]] BinaryInfo read_intel_zebin(const ElfObject& object);

} // namespace clbin::format
