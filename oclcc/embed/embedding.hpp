// A bundle embedded in a program: -o k.h, k.c, k.o, k.s.
#pragma once

#include "base/output_file.hpp"
#include "embed/object_target.hpp"

#include <cstdint>
#include <string>

namespace oclcc::embed {

enum class EmbedForm : std::uint8_t { c_header, c_source, object, assembly };

struct Embedding {
  EmbedForm form = EmbedForm::object;
  std::string symbol;
  ObjectTarget target; // of an object and of assembly
};

// Writes `bundle` into `file` in that form, without a copy of it. Errors of frame_object and
// OutputFile::append.
[[nodiscard]] clbin::base::Result<void> write_embedding(const Embedding& embedding,
                                                        clbin::base::ByteView bundle,
                                                        clbin::base::OutputFile& file);

} // namespace oclcc::embed
