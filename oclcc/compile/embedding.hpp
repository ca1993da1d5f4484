// Embeds a bundle in a program, without a compiler: -o k.h, k.c, k.o, k.s.
#pragma once

#include "base/byte_codec.hpp"
#include "base/file_io.hpp"
#include "command_line/embedding_names.hpp"

namespace oclcc::embed {

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

} // namespace oclcc::embed
