#include "compile/embedding.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace oclcc::embed {

using base::Bytes;
using base::ErrorCode;
using base::fail;

namespace {

// Numbers of the System V ABI, chapters 4 and 5 (elf.h has them, but not on every system).
constexpr std::uint16_t k_type_relocatable = 1;
constexpr std::uint32_t k_section_progbits = 1;
constexpr std::uint32_t k_section_symtab = 2;
constexpr std::uint32_t k_section_strtab = 3;
constexpr std::uint64_t k_flag_alloc = 2;
constexpr std::uint8_t k_global_object = (1U << 4U) | 1U; // STB_GLOBAL, STT_OBJECT
constexpr std::uint64_t k_bundle_alignment = 8;

enum class Section : std::uint16_t { none, rodata, stack_note, symtab, strtab, shstrtab, count };
constexpr char k_section_text[] =
    "\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab"; // each ends with a zero
constexpr std::string_view k_section_names(k_section_text, sizeof k_section_text);

std::uint32_t name_offset(std::string_view name) {
  return static_cast<std::uint32_t>(k_section_names.find(name));
}

struct SectionHeader {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_bytes = 0;
};

// Writes numbers in the order and address width of the target.
class TargetWriter {
public:
  explicit TargetWriter(const ObjectTarget& target) : m_target(target) {}

  void number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t byte = m_target.byte_order == ByteOrder::little ? i : width - 1 - i;
      m_bytes.push_back(static_cast<std::byte>((value >> (8 * byte)) & 0xffU));
    }
  }
  void half(std::uint64_t value) { number(value, 2); }
  void word(std::uint64_t value) { number(value, 4); }
  void address(std::uint64_t value) { number(value, m_target.address_bits / 8U); }
  void text(std::string_view text) {
    for (const char c : text) {
      m_bytes.push_back(static_cast<std::byte>(c));
    }
  }
  // Pads such that `before` plus the written bytes are a multiple of `alignment`.
  void align(std::uint64_t before, std::uint64_t alignment) {
    while ((before + m_bytes.size()) % alignment != 0) {
      m_bytes.push_back(std::byte{0});
    }
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return m_bytes.size(); }
  [[nodiscard]] Bytes take() { return std::move(m_bytes); }

private:
  const ObjectTarget& m_target;
  Bytes m_bytes;
};

bool is_64(const ObjectTarget& target) {
  return target.address_bits == 64;
}

std::uint64_t header_bytes(const ObjectTarget& target) {
  return is_64(target) ? 64 : 52;
}

std::uint64_t symbol_bytes(const ObjectTarget& target) {
  return is_64(target) ? 24 : 16;
}

Bytes elf_header(const ObjectTarget& target, std::uint64_t section_table) {
  TargetWriter writer(target);
  writer.text("\x7f"
              "ELF");
  writer.number(is_64(target) ? 2 : 1, 1);
  writer.number(target.byte_order == ByteOrder::little ? 1 : 2, 1);
  writer.number(1, 1); // EV_CURRENT
  writer.text(std::string(9, '\0'));
  writer.half(k_type_relocatable);
  writer.half(target.machine);
  writer.word(1); // EV_CURRENT
  writer.address(0);
  writer.address(0);
  writer.address(section_table);
  writer.word(target.flags);
  writer.half(header_bytes(target));
  writer.half(0);
  writer.half(0);
  writer.half(is_64(target) ? 64 : 40);
  writer.half(static_cast<std::uint16_t>(Section::count));
  writer.half(static_cast<std::uint16_t>(Section::shstrtab));
  return writer.take();
}

void write_section(TargetWriter& writer, const SectionHeader& header) {
  writer.word(header.name);
  writer.word(header.type);
  writer.address(header.flags);
  writer.address(0);
  writer.address(header.offset);
  writer.address(header.size);
  writer.word(header.link);
  writer.word(header.info);
  writer.address(header.alignment);
  writer.address(header.entry_bytes);
}

void write_symbol(TargetWriter& writer, const ObjectTarget& target, std::uint32_t name,
                  std::uint64_t value, std::uint64_t size) {
  const auto write_range = [&] {
    writer.address(value);
    writer.address(size);
  };
  writer.word(name);
  if (!is_64(target)) {
    write_range();
  }
  writer.number(k_global_object, 1);
  writer.number(0, 1);
  writer.half(static_cast<std::uint16_t>(Section::rodata));
  if (is_64(target)) {
    write_range();
  }
}

// Offsets in the file but for `size_value`, which is one in .rodata.
struct Layout {
  std::uint64_t rodata = 0;
  std::uint64_t size_value = 0;
  std::uint64_t rodata_end = 0;
  std::uint64_t symtab = 0;
  std::uint64_t strtab = 0;
  std::uint64_t shstrtab = 0;
  std::uint64_t sections = 0;
};

// In the order of Section.
void write_sections(TargetWriter& writer, const ObjectTarget& target, const Layout& layout) {
  write_section(writer, {});
  write_section(writer, {.name = name_offset(".rodata"),
                         .type = k_section_progbits,
                         .flags = k_flag_alloc,
                         .offset = layout.rodata,
                         .size = layout.rodata_end - layout.rodata,
                         .alignment = k_bundle_alignment});
  // Without this section, linkers make the stack of the program executable.
  write_section(writer, {.name = name_offset(".note.GNU-stack"),
                         .type = k_section_progbits,
                         .offset = layout.rodata_end,
                         .alignment = 1});
  write_section(writer, {.name = name_offset(".symtab"),
                         .type = k_section_symtab,
                         .offset = layout.symtab,
                         .size = layout.strtab - layout.symtab,
                         .link = static_cast<std::uint32_t>(Section::strtab),
                         .info = 1, // the first global symbol
                         .alignment = target.address_bits / 8U,
                         .entry_bytes = symbol_bytes(target)});
  write_section(writer, {.name = name_offset(".strtab"),
                         .type = k_section_strtab,
                         .offset = layout.strtab,
                         .size = layout.shstrtab - layout.strtab,
                         .alignment = 1});
  write_section(writer, {.name = name_offset(".shstrtab"),
                         .type = k_section_strtab,
                         .offset = layout.shstrtab,
                         .size = k_section_names.size(),
                         .alignment = 1});
}

} // namespace

Result<ObjectFrame> frame_object(const ObjectTarget& target, std::string_view symbol,
                                 std::uint64_t bundle_bytes) {
  constexpr std::uint64_t k_room = 4096; // for all but the bundle and its name
  if (!is_64(target) && bundle_bytes > std::numeric_limits<std::int32_t>::max() - k_room) {
    return fail(ErrorCode::limit_exceeded,
                "a bundle of {} bytes is too large for an object file of a 32-bit machine",
                bundle_bytes);
  }
  Layout layout;
  layout.rodata =
      (header_bytes(target) + k_bundle_alignment - 1) / k_bundle_alignment * k_bundle_alignment;
  const std::uint64_t bundle_end = layout.rodata + bundle_bytes;
  const std::string names = fmt::format("{}{}{}{}_size{}", '\0', symbol, '\0', symbol, '\0');
  const auto size_name = static_cast<std::uint32_t>(symbol.size() + 2);

  TargetWriter after(target);
  after.align(bundle_end, k_bundle_alignment);
  layout.size_value = bundle_end + after.size() - layout.rodata;
  after.address(bundle_bytes);
  layout.rodata_end = bundle_end + after.size();
  after.align(bundle_end, k_bundle_alignment);
  layout.symtab = bundle_end + after.size();
  after.text(std::string(symbol_bytes(target), '\0'));
  write_symbol(after, target, 1, 0, bundle_bytes);
  write_symbol(after, target, size_name, layout.size_value, target.address_bits / 8U);
  layout.strtab = bundle_end + after.size();
  after.text(names);
  layout.shstrtab = bundle_end + after.size();
  after.text(k_section_names);
  after.align(bundle_end, k_bundle_alignment);
  layout.sections = bundle_end + after.size();
  write_sections(after, target, layout);

  ObjectFrame frame;
  frame.before = elf_header(target, layout.sections);
  frame.before.resize(static_cast<std::size_t>(layout.rodata));
  frame.after = after.take();
  return frame;
}

} // namespace oclcc::embed
