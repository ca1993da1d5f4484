// Names of programs whose source is known only at run time: digests of what the driver compiles, as
// 64 lower-case hexadecimal digits. clbin_build, the layer and `oclcc --record` use the same names,
// so that each finds what another stored.
#pragma once

#include "model/source.hpp"

namespace clbin::source {

// Returns the text without the zero bytes at its end. Some applications pass lengths to
// clCreateProgramWithSource that count the final zero byte of a string (x264). Every driver ends
// the program there or reads it as a blank (doc/drivers.md, "All drivers").
[[nodiscard]] std::string_view without_final_zeros(std::string_view text) noexcept;

// Returns a digest of the main text and, in the order of the package, of each header's include name
// and text. Excludes the name of the main file and all display names.
[[nodiscard]] base::Digest source_digest(const format::SourcePackage& package);
// As for a package with this main text.
[[nodiscard]] base::Digest source_digest(std::string_view main_text,
                                         const std::vector<format::SourceFile>& headers);
[[nodiscard]] base::Digest il_digest(base::ByteView il);

// Returns the name of the first kernel that the text declares, by which a person recognizes the
// program; empty if none is found. Does not preprocess the text: a name that a macro makes is that
// of the macro, and kernels in conditions that do not hold count.
[[nodiscard]] std::string first_kernel_name(std::string_view text);

// The options of clBuildProgram.
struct BuildOptions {
  // All words except -I DIRECTORY and -IDIRECTORY, each followed by one space. White space within
  // quotes, and separators that contain white space other than spaces, are unchanged.
  std::string normalized;
  std::vector<std::string> include_folders; // of -I, in order, without quotes
  std::vector<std::string> definitions;     // "-DNAME=VALUE", in order, without quotes
  // Why a compiler may read files that no #include names ("the build option '-include' can read a
  // file", "a quote in the build options does not end"); empty if it does not.
  std::string why_not_closed;
};
// Options with an unterminated quote are not split: `normalized` is then the whole text.
[[nodiscard]] BuildOptions parse_build_options(std::string_view options);

// Returns "default" if `normalized` is empty; otherwise the first 32 hexadecimal digits of its
// digest.
[[nodiscard]] std::string recorded_variant_name(std::string_view normalized);

} // namespace clbin::source
