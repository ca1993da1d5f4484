#include "format/binary/elf_object.hpp"

#include <algorithm>

namespace clbin::format {
namespace {

constexpr std::string_view k_elf_magic = "\x7f"
                                         "ELF";
constexpr std::uint8_t k_class_32 = 1;
constexpr std::uint8_t k_class_64 = 2;
constexpr std::uint8_t k_little_endian = 1;
constexpr std::size_t k_ident_bytes = 16;

// The location of the section table.
struct SectionTable {
  std::uint64_t offset = 0;
  std::uint16_t record_bytes = 0;
  std::uint16_t count = 0;
  std::uint16_t names = 0; // the section with the names
};

// Reads an address or offset, whose width is that of the file's class.
Result<std::uint64_t> read_word(ByteReader& reader, std::uint8_t bits, std::string_view field) {
  if (bits == 64) {
    return reader.read_u64(field);
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t narrow, reader.read_u32(field));
  return narrow;
}

Result<void> read_ident(ByteReader& reader, ElfObject& object) {
  CLBIN_TRY_ASSIGN(const ByteView ident, reader.read_bytes(k_ident_bytes, "e_ident"));
  const auto at = [&](std::size_t index) { return std::to_integer<std::uint8_t>(ident[index]); };
  if (base::as_text(ident.first(k_elf_magic.size())) != k_elf_magic) {
    return fail(ErrorCode::damaged, "no ELF magic");
  }
  if ((at(4) != k_class_32 && at(4) != k_class_64) || at(5) != k_little_endian) {
    return fail(ErrorCode::damaged, "unknown ELF class or byte order");
  }
  object.address_bits = at(4) == k_class_64 ? 64 : 32;
  object.os_abi = at(7);
  object.abi_version = at(8);
  return {};
}

Result<SectionTable> read_header(ByteReader& reader, ElfObject& object) {
  CLBIN_TRY(read_ident(reader, object));
  CLBIN_TRY_ASSIGN(object.type, reader.read_u16("e_type"));
  CLBIN_TRY_ASSIGN(object.machine, reader.read_u16("e_machine"));
  CLBIN_TRY(reader.read_u32("e_version"));
  CLBIN_TRY(read_word(reader, object.address_bits, "e_entry"));
  CLBIN_TRY(read_word(reader, object.address_bits, "e_phoff"));
  SectionTable table;
  CLBIN_TRY_ASSIGN(table.offset, read_word(reader, object.address_bits, "e_shoff"));
  CLBIN_TRY_ASSIGN(object.flags, reader.read_u32("e_flags"));
  CLBIN_TRY(reader.read_bytes(6, "e_ehsize, e_phentsize, e_phnum"));
  CLBIN_TRY_ASSIGN(table.record_bytes, reader.read_u16("e_shentsize"));
  CLBIN_TRY_ASSIGN(table.count, reader.read_u16("e_shnum"));
  CLBIN_TRY_ASSIGN(table.names, reader.read_u16("e_shstrndx"));
  return table;
}

Result<ElfSection> read_section(ByteView record, ByteView file, std::uint8_t bits) {
  ByteReader reader(record, "section header");
  ElfSection section;
  CLBIN_TRY_ASSIGN(section.name, reader.read_u32("sh_name"));
  CLBIN_TRY_ASSIGN(section.type, reader.read_u32("sh_type"));
  CLBIN_TRY(read_word(reader, bits, "sh_flags"));
  CLBIN_TRY_ASSIGN(section.address, read_word(reader, bits, "sh_addr"));
  CLBIN_TRY_ASSIGN(const std::uint64_t offset, read_word(reader, bits, "sh_offset"));
  CLBIN_TRY_ASSIGN(section.size_bytes, read_word(reader, bits, "sh_size"));
  CLBIN_TRY_ASSIGN(section.link, reader.read_u32("sh_link"));
  if (offset <= file.size() && section.size_bytes <= file.size() - offset) {
    section.bytes = file.subspan(static_cast<std::size_t>(offset),
                                 static_cast<std::size_t>(section.size_bytes));
  }
  return section;
}

Result<std::size_t> end_of(const SectionTable& table, ByteView file) {
  const std::uint64_t table_bytes = std::uint64_t{table.record_bytes} * table.count;
  if (table.offset > file.size() || table_bytes > file.size() - table.offset) {
    return fail(ErrorCode::truncated, "section table is not inside the file");
  }
  return static_cast<std::size_t>(table.offset + table_bytes);
}

// Returns the length of a file that ends with its section table.
Result<std::size_t> length_of(ByteView bytes) {
  ByteReader reader(bytes, "ELF header");
  ElfObject object;
  CLBIN_TRY_ASSIGN(const SectionTable table, read_header(reader, object));
  return end_of(table, bytes);
}

Result<ElfObject> read_object(ByteView bytes) {
  ByteReader reader(bytes, "ELF header");
  ElfObject object;
  object.file = bytes;
  CLBIN_TRY_ASSIGN(const SectionTable table, read_header(reader, object));
  if (table.count == 0) {
    return object;
  }
  CLBIN_TRY(end_of(table, bytes));
  object.sections.reserve(table.count);
  for (std::size_t index = 0; index < table.count; ++index) {
    const std::size_t offset = static_cast<std::size_t>(table.offset) + index * table.record_bytes;
    CLBIN_TRY_ASSIGN(ElfSection section, read_section(bytes.subspan(offset, table.record_bytes),
                                                      bytes, object.address_bits));
    object.sections.push_back(section);
  }
  if (table.names < object.sections.size()) {
    object.names = object.sections[table.names].bytes;
  }
  return object;
}

// Reads a field of a note and the padding up to the next multiple of 4, which the last note of a
// section may lack.
Result<ByteView> read_padded(ByteReader& reader, std::uint32_t size_bytes, std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(size_bytes, field));
  const std::size_t padding = std::min<std::size_t>((4 - size_bytes % 4) % 4, reader.remaining());
  CLBIN_TRY(reader.read_bytes(padding, "padding"));
  return bytes;
}

// NVIDIA. -----------------------------------------------------------------------------------------

// Two layouts, both determined from cubins that ptxas made (12.4.131 and 13.0.88). Names are those
// of LLVM's llvm/include/llvm/BinaryFormat/ELF.h:
//
//   EI_OSABI 0x33, EI_ABIVERSION 7 (to CUDA 12): bits 0..7 of e_flags are the sm number
//   (EF_CUDA_SM), bit 11 the suffix 'a' (EF_CUDA_ACCELERATORS_V1), bits 16..23 the virtual sm.
//       sm_50 0x00320532   sm_80 0x00500550   sm_90 0x005a055a   sm_90a 0x005a0d5a
//
//   EI_OSABI 0x41, EI_ABIVERSION 8 (CUDA 13): bits 8..15 are the sm number (EF_CUDA_SM_MASK).
//       sm_75 0x06004b04   sm_80 0x06005004   sm_90 and sm_90a 0x06005a04
//       sm_100, sm_100a and sm_100f 0x06006402   sm_121 and sm_121a 0x06007902
//   None of them sets EF_CUDA_ACCELERATORS (bit 3). Attribute 9 of the section .nv.compat (type
//   0x70000086, for sm_90 and above) contains the suffix: 1 for 'a', 0 for none and for 'f'. The
//   cubins of sm_100 and sm_100f differ only in the note of ptxas's command line.
constexpr std::uint8_t k_abi_version_2 = 8;
constexpr std::uint32_t k_sm_mask = 0xffU;
constexpr std::uint32_t k_sm_shift_2 = 8;
constexpr std::uint32_t k_accelerators_1 = 0x800U;
constexpr std::uint32_t k_accelerators_2 = 0x8U;
constexpr std::uint32_t k_section_compat = 0x70000086U;
constexpr std::uint8_t k_attribute_accelerator_target = 9;
constexpr std::uint8_t k_format_sized = 4;

// Returns the value of an attribute of .nv.compat; std::nullopt if there is none. Attributes:
// format 1, number 1, value 2; format 4 is followed by `value` bytes.
Result<std::optional<std::uint16_t>> find_attribute(ByteView section, std::uint8_t wanted) {
  ByteReader reader(section, ".nv.compat");
  while (reader.remaining() != 0) {
    CLBIN_TRY_ASSIGN(const std::uint8_t format, reader.read_u8("format"));
    CLBIN_TRY_ASSIGN(const std::uint8_t number, reader.read_u8("attribute"));
    CLBIN_TRY_ASSIGN(const std::uint16_t value, reader.read_u16("value"));
    if (format == k_format_sized) {
      CLBIN_TRY(reader.read_bytes(value, "payload"));
    }
    if (number == wanted) {
      return value;
    }
  }
  return std::nullopt;
}

bool is_accelerated(const ElfObject& object) {
  if (object.abi_version < k_abi_version_2) {
    return (object.flags & k_accelerators_1) != 0;
  }
  if ((object.flags & k_accelerators_2) != 0) {
    return true;
  }
  for (const ElfSection& section : object.sections) {
    if (section.type == k_section_compat) {
      const auto value = find_attribute(section.bytes, k_attribute_accelerator_target);
      return value && (value->value_or(0) & 0xffU) != 0;
    }
  }
  return false;
}

// Intel. ------------------------------------------------------------------------------------------

// Section .note.intelgt.compat, owner "IntelGT" (intel/compute-runtime,
// shared/source/device_binary_format/zebin/zebin_elf.h). Zebins of Debian 12's ocloc 22.43 have
// ET_REL, machine 205, and notes 1 to 4 but not 6. They therefore contain only the product family
// (tgllp 29, dg2 1270, pvc 1271; note 2 is 0).
constexpr std::string_view k_owner{"IntelGT\0", 8};
constexpr std::uint32_t k_note_product_family = 1;
constexpr std::uint32_t k_note_product_config = 6;
constexpr std::uint16_t k_type_first = 0xff11;
constexpr std::uint16_t k_type_last = 0xff13;

// HardwareIpVersion: 6 bits of revision, 8 reserved, 8 of release, 10 of architecture.
void set_ip_version(std::uint32_t product_config, BinaryInfo& info) {
  info.arch_major = static_cast<std::uint16_t>(product_config >> 22U);
  info.arch_minor = static_cast<std::uint16_t>((product_config >> 14U) & 0xffU);
  info.arch_stepping = static_cast<std::uint16_t>(product_config & 0x3fU);
}

Result<void> add_note(ByteReader& reader, BinaryInfo& info) {
  CLBIN_TRY_ASSIGN(const ElfNote note, read_elf_note(reader));
  if (note.owner != k_owner || note.value.size() != sizeof(std::uint32_t)) {
    return {};
  }
  ByteReader value_reader(note.value, "desc");
  CLBIN_TRY_ASSIGN(const std::uint32_t number, value_reader.read_u32("desc"));
  if (note.type == k_note_product_config) {
    set_ip_version(number, info);
  }
  if (note.type == k_note_product_family) {
    info.product_family = static_cast<std::uint16_t>(number);
  }
  return {};
}

// Notes of other producers do not always have ELF's layout (.note.intelgt.metrics does not).
// Ignores the rest of such a section.
void read_notes(ByteView section, BinaryInfo& info) {
  ByteReader reader(section, "note");
  while (reader.remaining() != 0 && add_note(reader, info)) {
  }
}

} // namespace

Result<std::string_view> ElfNames::at(ByteView table, std::uint32_t offset) {
  if (offset >= table.size()) {
    return std::string_view();
  }
  std::string_view name = base::as_text(table.subspan(offset));
  name = name.substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(name.find('\0'), m_bytes_left + 1)));
  if (name.size() > m_bytes_left) {
    return fail(ErrorCode::limit_exceeded, "names of symbols and sections exceed {} bytes",
                m_limit);
  }
  m_bytes_left -= name.size();
  return name;
}

Result<ElfSymbol> read_elf_symbol(ByteReader& reader) {
  constexpr std::uint8_t k_kind_mask = 0xf;
  constexpr std::uint8_t k_function = 2;
  ElfSymbol symbol;
  CLBIN_TRY_ASSIGN(symbol.name, reader.read_u32("st_name"));
  CLBIN_TRY_ASSIGN(const std::uint8_t info, reader.read_u8("st_info"));
  symbol.is_function = (info & k_kind_mask) == k_function;
  CLBIN_TRY_ASSIGN(symbol.other, reader.read_u8("st_other"));
  CLBIN_TRY_ASSIGN(symbol.section, reader.read_u16("st_shndx"));
  CLBIN_TRY_ASSIGN(symbol.value, reader.read_u64("st_value"));
  CLBIN_TRY_ASSIGN(symbol.size_bytes, reader.read_u64("st_size"));
  return symbol;
}

std::optional<ElfObject> parse_elf(ByteView bytes) {
  auto object = read_object(bytes);
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

std::vector<ElfObject> elf_objects_inside(ByteView bytes) {
  std::vector<ElfObject> objects;
  const std::string_view text = base::as_text(bytes);
  for (std::size_t at = text.find(k_elf_magic); at != std::string_view::npos;
       at = text.find(k_elf_magic, at + 1)) {
    const std::size_t length = length_of(bytes.subspan(at)).value_or(0);
    auto object = parse_elf(bytes.subspan(at, length));
    if (object && !object->sections.empty()) {
      objects.push_back(std::move(*object));
      at += length - 1;
    }
  }
  return objects;
}

Result<ElfNote> read_elf_note(ByteReader& reader) {
  ElfNote note;
  CLBIN_TRY_ASSIGN(const std::uint32_t owner_bytes, reader.read_u32("namesz"));
  CLBIN_TRY_ASSIGN(const std::uint32_t value_bytes, reader.read_u32("descsz"));
  CLBIN_TRY_ASSIGN(note.type, reader.read_u32("type"));
  CLBIN_TRY_ASSIGN(const ByteView owner, read_padded(reader, owner_bytes, "name"));
  CLBIN_TRY_ASSIGN(note.value, read_padded(reader, value_bytes, "desc"));
  note.owner = base::as_text(owner);
  return note;
}

BinaryInfo read_cubin(const ElfObject& object) {
  const std::uint32_t shift = object.abi_version < k_abi_version_2 ? 0 : k_sm_shift_2;
  const auto sm = static_cast<std::uint16_t>((object.flags >> shift) & k_sm_mask);
  BinaryInfo info;
  info.kind = BinaryKind::cubin;
  info.address_bits = object.address_bits;
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = is_accelerated(object) ? 'a' : '\0';
  return info;
}

bool is_zebin(const ElfObject& object) noexcept {
  return (object.type >= k_type_first && object.type <= k_type_last) ||
         object.machine == k_elf_machine_intel_gt;
}

BinaryInfo read_intel_zebin(const ElfObject& object) {
  BinaryInfo info;
  info.kind = BinaryKind::intel_zebin;
  info.address_bits = object.address_bits;
  std::size_t bytes_left = object.file.size(); // each byte is read at most once
  for (const ElfSection& section : object.sections) {
    if (section.type == k_elf_section_note && section.bytes.size() <= bytes_left) {
      bytes_left -= section.bytes.size();
      read_notes(section.bytes, info);
    }
  }
  if (info.has_architecture()) {
    info.product_family = 0; // the driver then ignores it, too
  }
  return info;
}

} // namespace clbin::format
