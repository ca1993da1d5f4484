#include "format/binary/elf_object.hpp"

namespace clbin::format {
namespace {

using base::ByteReader;
using base::ByteView;

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
};

// Reads an address or offset, whose width is that of the file's class.
base::Result<std::uint64_t> read_word(ByteReader& reader, std::uint8_t bits,
                                      std::string_view field) {
  if (bits == 64) {
    return reader.read_u64(field);
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t narrow, reader.read_u32(field));
  return narrow;
}

base::Result<void> read_ident(ByteReader& reader, ElfObject& object) {
  CLBIN_TRY_ASSIGN(const ByteView ident, reader.read_bytes(k_ident_bytes, "e_ident"));
  const auto at = [&](std::size_t index) { return std::to_integer<std::uint8_t>(ident[index]); };
  if (base::as_text(ident.first(k_elf_magic.size())) != k_elf_magic) {
    return base::fail(base::ErrorCode::damaged, "no ELF magic");
  }
  if ((at(4) != k_class_32 && at(4) != k_class_64) || at(5) != k_little_endian) {
    return base::fail(base::ErrorCode::damaged, "unknown ELF class or byte order");
  }
  object.address_bits = at(4) == k_class_64 ? 64 : 32;
  object.os_abi = at(7);
  object.abi_version = at(8);
  return {};
}

base::Result<SectionTable> read_header(ByteReader& reader, ElfObject& object) {
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
  CLBIN_TRY(reader.read_u16("e_shstrndx"));
  return table;
}

base::Result<ElfSection> read_section(ByteView record, ByteView file, std::uint8_t bits) {
  ByteReader reader(record, "section header");
  ElfSection section;
  CLBIN_TRY(reader.read_u32("sh_name"));
  CLBIN_TRY_ASSIGN(section.type, reader.read_u32("sh_type"));
  CLBIN_TRY(read_word(reader, bits, "sh_flags"));
  CLBIN_TRY(read_word(reader, bits, "sh_addr"));
  CLBIN_TRY_ASSIGN(const std::uint64_t offset, read_word(reader, bits, "sh_offset"));
  CLBIN_TRY_ASSIGN(const std::uint64_t size_bytes, read_word(reader, bits, "sh_size"));
  if (offset <= file.size() && size_bytes <= file.size() - offset) {
    section.bytes =
        file.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes));
  }
  return section;
}

base::Result<ElfObject> read_object(ByteView bytes) {
  ByteReader reader(bytes, "ELF header");
  ElfObject object;
  object.file_bytes = bytes.size();
  CLBIN_TRY_ASSIGN(const SectionTable table, read_header(reader, object));
  if (table.count == 0) {
    return object;
  }
  const std::uint64_t table_bytes = std::uint64_t{table.record_bytes} * table.count;
  if (table.offset > bytes.size() || table_bytes > bytes.size() - table.offset) {
    return base::fail(base::ErrorCode::truncated, "section table is not inside the file");
  }
  object.sections.reserve(table.count);
  for (std::size_t index = 0; index < table.count; ++index) {
    const std::size_t offset = static_cast<std::size_t>(table.offset) + index * table.record_bytes;
    CLBIN_TRY_ASSIGN(ElfSection section, read_section(bytes.subspan(offset, table.record_bytes),
                                                      bytes, object.address_bits));
    object.sections.push_back(section);
  }
  return object;
}

} // namespace

std::optional<ElfObject> parse_elf(ByteView bytes) {
  if (auto object = read_object(bytes)) {
    return std::move(*object);
  }
  return std::nullopt;
}

} // namespace clbin::format
