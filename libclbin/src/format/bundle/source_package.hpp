// The source of a program in a bundle: the main file and every file that it includes, under names
// that do not require any file of the build machine.
#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/read_budget.hpp"

#include <string>
#include <vector>

namespace clbin::format {

struct SourceFile {
  // The name in the #include line that reaches the file. For the main file, the name in
  // diagnostics.
  std::string include_name;
  std::string display_name; // the path that the user specified, for diagnostics
  std::string text;

  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

struct SourcePackage {
  SourceFile main;
  std::vector<SourceFile> headers; // in order of discovery; include names are unique

  friend bool operator==(const SourcePackage&, const SourcePackage&) = default;
};

// Returns true if a header with this name may be passed to drivers: a relative path without empty,
// "." or ".." parts and without control characters. PoCL 3.1 writes embedded headers to files with
// these names in its cache directory, and follows "..".
[[nodiscard]] bool is_valid_include_name(std::string_view name);

// Returns the raw bytes of a source blob (clbin(5), SOURCE). Deterministic. Include names must not
// be empty and must not contain null characters; texts must be shorter than 4 GiB.
[[nodiscard]] base::Bytes encode_source_package(const SourcePackage& package);
// Safe on untrusted input. Errors: truncated, damaged (a duplicate or invalid include name, an
// empty main text, extra bytes), newer_version, limit_exceeded (more than 131,072 files, or more
// memory than `budget`, if not null, has left).
[[nodiscard]] base::Result<SourcePackage> decode_source_package(base::ByteView bytes,
                                                                ReadBudget* budget = nullptr);

} // namespace clbin::format
