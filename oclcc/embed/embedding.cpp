#include "embed/embedding.hpp"

#include "embed/embedded_text.hpp"
#include "embed/object_file.hpp"

namespace oclcc::embed {

using clbin::base::ByteView;
using clbin::base::OutputFile;
using clbin::base::Result;

namespace {

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

} // namespace oclcc::embed
