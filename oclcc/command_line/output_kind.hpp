// The kinds of output of the compile mode, and the command line words that select them.
#pragma once

#include "command_line/options.hpp"
#include "embed/embedding.hpp"
#include "format/binary/binary_kind.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace oclcc {

// launchers: the C++ header of launchers.hpp.
enum class OutputForm : std::uint8_t { bundle, raw_binary, embedding, launchers };

// A kind of output: a suffix of -o, and a value of --emit.
struct OutputKind {
  std::string_view name;
  OutputForm form;
  clbin::format::BinaryKind raw_kind = clbin::format::BinaryKind::unknown; // of raw binaries
  embed::EmbedForm embed_form = embed::EmbedForm::c_header;                // of embeddings
};
// Whether --emit accepts `name`; the suffixes of -o are the same without the dot.
[[nodiscard]] bool is_output_kind(std::string_view name) noexcept;
[[nodiscard]] std::string output_kinds(); // "clbin, ptx, …", for messages

// Returns the kind of --emit, otherwise of the suffix of -o, otherwise a bundle.
[[nodiscard]] const OutputKind& output_kind(const Options& options);

// Returns the form of output_kind().
[[nodiscard]] OutputForm output_form(const Options& options);

} // namespace oclcc
