// Names of the files that --extract writes. They depend on the bundle only, and are safe even if a
// malicious bundle names its programs, variants and targets.
#pragma once

#include "format/bundle/bundle_reader.hpp"

namespace oclcc {

// Returns `text` as a part of a file name: letters, digits, '.', '_', '+', '-' and '@', with other
// bytes replaced by '_'; 1 to 64 characters, without a leading '.' or '-'.
[[nodiscard]] std::string file_name_part(std::string_view text);

// Returns the suffix that tools for the kind expect, such as ".ptx"; otherwise ".elf" or ".bin".
[[nodiscard]] std::string_view binary_suffix(clbin::format::BinaryKind kind,
                                             clbin::base::ByteView bytes) noexcept;

// The parts of an entry's file name, without its suffix.
struct EntryPlace {
  clbin::format::SharedText program{};
  clbin::format::SharedText variant{};
  clbin::format::TargetView target{};
  clbin::format::BinaryKind kind = clbin::format::BinaryKind::unknown;
};
// Returns "PROGRAM.VARIANT.TARGET" for each of `places`. No two names are equal, in any case of
// letters: equal ones get "." and 16 digits of a digest of their parts.
[[nodiscard]] std::vector<std::string> entry_file_names(const std::vector<EntryPlace>& places);

} // namespace oclcc
