#include "compile/embedding.hpp"

namespace oclcc::embed {

using base::ByteView;
using base::OutputFile;

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
  CLBIN_TRY_ASSIGN(const ObjectFrame frame,
                   frame_object(embedding.target, embedding.symbol, bundle.size()));
  CLBIN_TRY(file.append(frame.before));
  CLBIN_TRY(file.append(bundle));
  return file.append(frame.after);
}

} // namespace

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

std::string declarations(std::string_view symbol) {
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

} // namespace oclcc::embed
