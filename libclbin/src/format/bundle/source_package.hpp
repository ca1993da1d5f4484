// A program's source as a bundle carries it: the main file and every file it includes, under names
// that need no file of the build machine.
#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/read_budget.hpp"

#include <string>
#include <vector>

namespace clbin::format {

struct SourceFile {
  // What stands in the #include line that reaches it. For the main file, the name in diagnostics.
  std::string include_name;
  std::string display_name; // the path as the user gave it, for diagnostics
  std::string text;

  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

struct SourcePackage {
  SourceFile main;
  std::vector<SourceFile> headers; // in order of discovery; include names are unique

  friend bool operator==(const SourcePackage&, const SourcePackage&) = default;
};

// Whether drivers may be given a header by this name: a relative path without empty, "." or ".."
// parts and without control characters. PoCL 3.1 writes embedded headers to files of these names
// below its cache folder, wherever ".." leads.
[[nodiscard]] bool is_valid_include_name(std::string_view name);

// The raw bytes of a source blob (clbin(5), SOURCE): deterministic. Include names are not empty and
// hold no zero byte; texts are shorter than 4 GiB.
[[nodiscard]] base::Bytes encode_source_package(const SourcePackage& package);
// Safe on untrusted input. truncated, damaged (an include name twice or not valid, empty main text,
// bytes left over), newer_version, limit_exceeded (more than 131,072 files, or more than `budget`,
// where there is one, has memory for).
[[nodiscard]] base::Result<SourcePackage> decode_source_package(base::ByteView bytes,
                                                                ReadBudget* budget = nullptr);

} // namespace clbin::format
