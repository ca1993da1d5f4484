// Names of the files that --extract writes: a function of the bundle alone, and safe whatever a
// bundle that nobody vouches for calls its programs, variants and targets.
#pragma once

#include "format/bundle_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// `text` as a part of a file name: letters, digits, '.', '_', '+', '-' and '@', other bytes as '_',
// at most 64, not empty, no '.' or '-' in front.
[[nodiscard]] std::string file_name_part(std::string_view text);

// ".ptx"; what tools of the kind expect, else ".elf" or ".bin".
[[nodiscard]] std::string_view binary_suffix(clbin::format::BinaryKind kind,
                                             clbin::base::ByteView bytes) noexcept;

// What the file of an entry is called, without its suffix.
struct EntryPlace {
  std::string program{};
  std::string variant{};
  clbin::format::TargetView target{};
  clbin::format::BinaryKind kind = clbin::format::BinaryKind::unknown;
};
// "PROGRAM.VARIANT.TARGET", one for each of `places`, no two equal in any case of letters: those
// that would be end in "." and 16 digits of a digest over what they name.
[[nodiscard]] std::vector<std::string> entry_file_names(const std::vector<EntryPlace>& places);

} // namespace oclcc
