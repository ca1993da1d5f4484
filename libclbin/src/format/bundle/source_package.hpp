// The bytes of the source of a program in a bundle.
#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/read_budget.hpp"
#include "model/source.hpp"

#include <string_view>

namespace clbin::format {

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
