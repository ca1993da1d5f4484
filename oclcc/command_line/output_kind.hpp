// What the compile mode can write, and which words of the command line ask for it.
#pragma once

#include "command_line/options.hpp"
#include "embed/embedding.hpp"
#include "format/binary_kind.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace oclcc {

// launchers: the C++ header of launchers.hpp.
enum class OutputForm : std::uint8_t { bundle, raw_binary, embedding, launchers };

// What can be written: a suffix of -o, and a word of --emit.
struct OutputKind {
  std::string_view name;
  OutputForm form;
  clbin::format::BinaryKind raw_kind = clbin::format::BinaryKind::unknown; // of raw binaries
  embed::EmbedForm embed_form = embed::EmbedForm::c_header;                // of embeddings
};
// What --emit takes, and the suffixes of -o without their dot.
[[nodiscard]] bool is_output_kind(std::string_view name) noexcept;
[[nodiscard]] std::string output_kinds(); // "clbin, ptx, …", for messages

// --emit, else the suffix of -o, else a bundle.
[[nodiscard]] const OutputKind& output_kind(const Options& options);

// What --emit, or else the suffix of -o, asks for.
[[nodiscard]] OutputForm output_form(const Options& options);

} // namespace oclcc
