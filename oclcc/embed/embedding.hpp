// Embeds a bundle in a program, without a compiler: -o k.h, k.c, k.o, k.s.
#pragma once

#include "base/byte_codec.hpp"
#include "base/file_io.hpp"

namespace oclcc::embed {

namespace base = clbin::base;
using base::Result;

enum class ByteOrder : std::uint8_t { little, big };

// The fields of an ELF header that describe the machine.
struct ObjectTarget {
  std::uint16_t machine = 0; // e_machine
  std::uint32_t flags = 0;   // e_flags: the calling convention, which linkers compare
  std::uint8_t address_bits = 64;
  ByteOrder byte_order = ByteOrder::little;
};

// Returns the target of a triple of gcc and clang, such as "aarch64-linux-gnu". Only the
// architecture and the floating-point convention matter. invalid_argument: the architecture is
// unknown, or the system does not use ELF.
[[nodiscard]] Result<ObjectTarget> object_target(std::string_view triple);

// Returns the triple for which oclcc was built.
[[nodiscard]] std::string_view host_triple() noexcept;

enum class EmbedForm : std::uint8_t { c_header, c_source, object, assembly };

struct Embedding {
  EmbedForm form = EmbedForm::object;
  std::string symbol;
  ObjectTarget target; // for object files and assembly
};

// Writes `bundle` to `file` in the form of `embedding`, without copying it: text or an object file
// that defines it as the global symbol `symbol`, const and 8-byte aligned, and its size in bytes, a
// size_t, as `symbol`_size. The result is deterministic. C and assembly are for C99, C++ and the
// assemblers of gcc and clang; each source that includes a C header gets its own array.
// limit_exceeded: an object file is too large for a 32-bit target. Errors of OutputFile::append.
[[nodiscard]] Result<void> write_embedding(const Embedding& embedding, base::ByteView bundle,
                                           base::OutputFile& file);

// Returns a header for C99 and C++ that declares the symbols of the C source, the assembly or the
// object file.
[[nodiscard]] std::string declarations(std::string_view symbol);

// What is before and after the bundle in an object file.
struct ObjectFrame {
  base::Bytes before;
  base::Bytes after;
};
[[nodiscard]] Result<ObjectFrame> frame_object(const ObjectTarget& target, std::string_view symbol,
                                               std::uint64_t bundle_bytes);

// Returns "my_kernels_clbin" for "my-kernels". Prefixes "k" if the stem starts with a digit or "_".
[[nodiscard]] std::string default_symbol(std::string_view stem);

// invalid_argument unless `symbol` is an identifier in C and C++ that is neither a keyword nor
// reserved ("__", or "_X" at the beginning).
[[nodiscard]] Result<void> check_symbol(std::string_view symbol);

// Whether `word` is a keyword or an alternative token of C++20.
[[nodiscard]] bool is_cpp_keyword(std::string_view word);

} // namespace oclcc::embed
