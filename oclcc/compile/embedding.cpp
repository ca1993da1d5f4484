// Embeds a bundle in a program, without a compiler: -o k.h, k.c, k.o, k.s. The result is
// deterministic. C and assembly are for C99, C++ and the assemblers of gcc and clang.
#include "compile/output_plan.hpp"

namespace oclcc {

using base::OutputFile;
using embed::ByteOrder;
using embed::Embedding;
using embed::EmbedForm;
using embed::ObjectTarget;

namespace {

// ---- Object files -------------------------------------------------------------------------------

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

Result<embed::ObjectFrame> embed::frame_object(const ObjectTarget& target, std::string_view symbol,
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

// ---- Text ---------------------------------------------------------------------------------------

namespace {

constexpr std::size_t k_bytes_a_line = 24;
constexpr std::size_t k_bytes_a_write = k_bytes_a_line * 8192;

constexpr std::string_view k_note = "A bundle of oclcc(1), for clbin_open_memory(). Do not edit.";

// C99 has no keyword for it.
constexpr std::string_view k_alignment_macro = R"(#if defined(__cplusplus)
#define CLBIN_EMBED_ALIGN alignas(8)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CLBIN_EMBED_ALIGN _Alignas(8)
#elif defined(_MSC_VER)
#define CLBIN_EMBED_ALIGN __declspec(align(8))
#else
#define CLBIN_EMBED_ALIGN __attribute__((aligned(8)))
#endif
)";

Result<void> append(OutputFile& file, std::string_view text) {
  return file.append(std::as_bytes(std::span(text)));
}

// "0" to "255", each with a comma.
class ByteTexts {
public:
  ByteTexts() {
    for (std::size_t value = 0; value < m_texts.size(); ++value) {
      m_texts[value] = fmt::format("{},", value);
    }
  }
  [[nodiscard]] const std::string& of(std::byte value) const {
    return m_texts[static_cast<std::size_t>(value)];
  }

private:
  std::array<std::string, 256> m_texts;
};

// Lines of numbers, in parts: a bundle of 100 MiB is 380 MB of text.
Result<void> append_numbers(OutputFile& file, ByteView bytes, std::string_view line_begin) {
  const ByteTexts texts;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % k_bytes_a_line == 0) {
      text += line_begin;
    }
    text += texts.of(bytes[i]);
    const bool ends_line = (i + 1) % k_bytes_a_line == 0 || i + 1 == bytes.size();
    if (ends_line) {
      text.back() = line_begin.empty() ? ',' : '\n';
      text += line_begin.empty() ? "\n" : "";
    }
    if ((i + 1) % k_bytes_a_write == 0 || i + 1 == bytes.size()) {
      CLBIN_TRY(append(file, text));
      text.clear();
    }
  }
  return {};
}

std::string with_c_linkage(const std::string& declarations) {
  return fmt::format(
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{}#ifdef __cplusplus\n}}\n#endif\n",
      declarations);
}

Result<void> write_c_header(OutputFile& file, std::string_view symbol, ByteView bundle) {
  CLBIN_TRY(append(file, fmt::format("/* {0} */\n"
                                     "#ifndef CLBIN_EMBED_{1}\n"
                                     "#define CLBIN_EMBED_{1}\n"
                                     "#include <stddef.h>\n"
                                     "{2}"
                                     "#define {1}_size ((size_t){3})\n"
                                     "CLBIN_EMBED_ALIGN static const unsigned char {1}[{3}] = {{\n",
                                     k_note, symbol, k_alignment_macro, bundle.size())));
  CLBIN_TRY(append_numbers(file, bundle, ""));
  return append(file, "};\n#undef CLBIN_EMBED_ALIGN\n#endif\n");
}

Result<void> write_c_source(OutputFile& file, std::string_view symbol, ByteView bundle) {
  const std::string declared = with_c_linkage(fmt::format("extern const unsigned char {0}[{1}];\n"
                                                          "extern const size_t {0}_size;\n",
                                                          symbol, bundle.size()));
  CLBIN_TRY(append(file, fmt::format("/* {0} */\n"
                                     "#include <stddef.h>\n"
                                     "{1}{2}"
                                     "const size_t {3}_size = {4};\n"
                                     "CLBIN_EMBED_ALIGN const unsigned char {3}[{4}] = {{\n",
                                     k_note, k_alignment_macro, declared, symbol, bundle.size())));
  CLBIN_TRY(append_numbers(file, bundle, ""));
  return append(file, "};\n");
}

Result<void> write_assembly(OutputFile& file, const ObjectTarget& target, std::string_view symbol,
                            ByteView bundle) {
  // "@object" would begin a comment on ARM.
  CLBIN_TRY(append(file, fmt::format("/* {0} */\n"
                                     "\t.section .rodata\n"
                                     "\t.balign 8\n"
                                     "\t.globl {1}_size\n"
                                     "\t.type {1}_size, %object\n"
                                     "\t.size {1}_size, {2}\n"
                                     "{1}_size:\n"
                                     "\t.{3}byte {4}\n"
                                     "\t.balign 8\n"
                                     "\t.globl {1}\n"
                                     "\t.type {1}, %object\n"
                                     "\t.size {1}, {4}\n"
                                     "{1}:\n",
                                     k_note, symbol, target.address_bits / 8,
                                     target.address_bits / 8, bundle.size())));
  CLBIN_TRY(append_numbers(file, bundle, "\t.byte "));
  return append(file, "\t.section .note.GNU-stack,\"\",%progbits\n");
}

Result<void> write_object(const Embedding& embedding, ByteView bundle, OutputFile& file) {
  CLBIN_TRY_ASSIGN(const embed::ObjectFrame frame,
                   embed::frame_object(embedding.target, embedding.symbol, bundle.size()));
  CLBIN_TRY(file.append(frame.before));
  CLBIN_TRY(file.append(bundle));
  return file.append(frame.after);
}

// Writes `bundle` without copying it: text or an object file that defines it as the global symbol
// `symbol`, const and 8-byte aligned, and its size in bytes, a size_t, as `symbol`_size. Each
// source that includes a C header gets its own array.
Result<void> write_embedding(const Embedding& embedding, ByteView bundle, OutputFile& file) {
  switch (embedding.form) {
  case EmbedForm::c_header:
    return write_c_header(file, embedding.symbol, bundle);
  case EmbedForm::c_source:
    return write_c_source(file, embedding.symbol, bundle);
  case EmbedForm::assembly:
    return write_assembly(file, embedding.target, embedding.symbol, bundle);
  case EmbedForm::object:
    break;
  }
  return write_object(embedding, bundle, file);
}

// Returns a header for C99 and C++ that declares the symbols of the C source, the assembly or the
// object file.
std::string declarations_of(std::string_view symbol) {
  const std::string declared = with_c_linkage(fmt::format("extern const unsigned char {0}[];\n"
                                                          "extern const size_t {0}_size;\n",
                                                          symbol));
  return fmt::format("/* {0} */\n"
                     "#ifndef CLBIN_EMBED_{1}\n"
                     "#define CLBIN_EMBED_{1}\n"
                     "#include <stddef.h>\n"
                     "{2}#endif\n",
                     k_note, symbol, declared);
}

// gcc 12 and clang 14, for C and for C++, take 1.2 to 1.9 s and 0.12 to 0.25 GB a MiB of array
// (measured on 1 MiB and 4 MiB).
constexpr std::size_t k_large_header_bytes = 4U << 20U;

} // namespace

Result<void> write_embedding_files(const OutputPlan& plan, ByteView bundle, OutputFile& output,
                                   Reporter& reporter) {
  if (plan.embedding.form == EmbedForm::c_header && bundle.size() > k_large_header_bytes) {
    reporter.warning(fmt::format("compiling a {} MiB header is slow", bundle.size() >> 20U));
    reporter.note(fmt::format("use -o {}.o --embed-header {} to avoid it",
                              plan.path.stem().string(), plan.path.filename().string()));
  }
  CLBIN_TRY(write_embedding(plan.embedding, bundle, output));
  if (!plan.embed_header) {
    return {};
  }
  const std::string declarations = declarations_of(plan.embedding.symbol);
  return base::write_output_file(*plan.embed_header, std::as_bytes(std::span(declarations)));
}

} // namespace oclcc
