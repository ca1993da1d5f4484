// Embeds a bundle in a program: -o k.h, k.c, k.o, k.s.
#pragma once

#include "base/file_io.hpp"
#include "embed/object_target.hpp"

#include <cstdint>
#include <string>

namespace oclcc::embed {

enum class EmbedForm : std::uint8_t { c_header, c_source, object, assembly };

struct Embedding {
  EmbedForm form = EmbedForm::object;
  std::string symbol;
  ObjectTarget target; // for object files and assembly
};

// Writes `bundle` to `file` in the form of `embedding`, without copying it. Errors of frame_object
// and OutputFile::append.
[[nodiscard]] clbin::base::Result<void> write_embedding(const Embedding& embedding,
                                                        clbin::base::ByteView bundle,
                                                        clbin::base::OutputFile& file);

} // namespace oclcc::embed
