#include "format/binary/intel_zebin.hpp"

namespace clbin::format {
namespace {

// Section .note.intelgt.compat, owner "IntelGT" (intel/compute-runtime,
// shared/source/device_binary_format/zebin/zebin_elf.h). Zebins of Debian 12's ocloc 22.43 have
// ET_REL, machine 205, and notes 1 to 4 but not 6. They therefore contain only the product family
// (tgllp 29, dg2 1270, pvc 1271; note 2 is 0).
constexpr std::string_view k_owner{"IntelGT\0", 8};
constexpr std::uint32_t k_note_product_family = 1;
constexpr std::uint32_t k_note_product_config = 6;
constexpr std::uint16_t k_type_first = 0xff11;
constexpr std::uint16_t k_type_last = 0xff13;
constexpr std::size_t k_note_alignment = 4;

base::Result<void> skip_padding(base::ByteReader& reader, std::uint32_t size_bytes) {
  const std::size_t excess = size_bytes % k_note_alignment;
  if (excess != 0) {
    CLBIN_TRY(reader.read_bytes(k_note_alignment - excess, "padding"));
  }
  return {};
}

// HardwareIpVersion: 6 bits of revision, 8 reserved, 8 of release, 10 of architecture.
void set_ip_version(std::uint32_t product_config, BinaryInfo& info) {
  info.arch_major = static_cast<std::uint16_t>(product_config >> 22U);
  info.arch_minor = static_cast<std::uint16_t>((product_config >> 14U) & 0xffU);
  info.arch_stepping = static_cast<std::uint16_t>(product_config & 0x3fU);
}

base::Result<void> read_note(base::ByteReader& reader, BinaryInfo& info) {
  CLBIN_TRY_ASSIGN(const std::uint32_t name_bytes, reader.read_u32("namesz"));
  CLBIN_TRY_ASSIGN(const std::uint32_t value_bytes, reader.read_u32("descsz"));
  CLBIN_TRY_ASSIGN(const std::uint32_t type, reader.read_u32("type"));
  CLBIN_TRY_ASSIGN(const base::ByteView name, reader.read_bytes(name_bytes, "name"));
  CLBIN_TRY(skip_padding(reader, name_bytes));
  CLBIN_TRY_ASSIGN(const base::ByteView value, reader.read_bytes(value_bytes, "desc"));
  CLBIN_TRY(skip_padding(reader, value_bytes));
  if (base::as_text(name) != k_owner || value.size() != sizeof(std::uint32_t)) {
    return {};
  }
  base::ByteReader value_reader(value, "desc");
  CLBIN_TRY_ASSIGN(const std::uint32_t number, value_reader.read_u32("desc"));
  if (type == k_note_product_config) {
    set_ip_version(number, info);
  }
  if (type == k_note_product_family) {
    info.product_family = static_cast<std::uint16_t>(number);
  }
  return {};
}

// Notes of other producers do not always have ELF's layout (.note.intelgt.metrics does not).
// Ignores the rest of such a section.
void read_notes(base::ByteView section, BinaryInfo& info) {
  base::ByteReader reader(section, "note");
  while (reader.remaining() != 0 && read_note(reader, info)) {
  }
}

} // namespace

bool is_zebin_type(std::uint16_t elf_type) noexcept {
  return elf_type >= k_type_first && elf_type <= k_type_last;
}

BinaryInfo read_intel_zebin(const ElfObject& object) {
  BinaryInfo info;
  info.kind = BinaryKind::intel_zebin;
  info.address_bits = object.address_bits;
  std::size_t bytes_left = object.file_bytes; // each byte is read at most once
  for (const ElfSection& section : object.sections) {
    if (section.type == k_elf_section_note && section.bytes.size() <= bytes_left) {
      bytes_left -= section.bytes.size();
      read_notes(section.bytes, info);
    }
  }
  const bool tells_version =
      info.arch_major != 0 || info.arch_minor != 0 || info.arch_stepping != 0;
  if (tells_version) {
    info.product_family = 0; // the driver then ignores it, too
  }
  return info;
}

} // namespace clbin::format
