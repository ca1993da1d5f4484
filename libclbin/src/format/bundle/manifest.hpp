// What the blobs of a bundle contain besides payloads: the JSON manifest of a program (reflection,
// options, logs, tool versions), which --info and reflection read, but no load; and its source.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/bundle/read_limits.hpp"
#include "model/bundle.hpp"

namespace clbin::format {

struct Manifest {
  std::string producer;
  std::string program;
  std::vector<ManifestEntry> entries; // ENTRY.manifest_row is an index of these
  std::vector<RecordedLaunch> launches{};
  std::vector<RecordedBuild> builds{};
  std::vector<Measurement> measurements{}; // in ascending order of their places
  std::vector<KnownAnswer> answers{};      // likewise
  // Those of `answers` that are recorded, in their JSON alone: earlier readers reject their data in
  // known answers, and skip a member that they do not know.
  std::vector<KnownAnswer> recorded_answers{};
  friend bool operator==(const Manifest&, const Manifest&) = default;
};
CLBIN_VISIT(Manifest, producer, program, entries, launches, builds, measurements, answers,
            recorded_answers);

// Returns the first 16 hexadecimal digits of a raw digest. The tables contain the whole digest, and
// digests do not compress.
[[nodiscard]] std::string row_digest(const Digest& raw_digest);

// Deterministic: keys are sorted, members with default values omitted, and bytes that are not UTF-8
// escaped (base::escape_text). The text contains no white space.
[[nodiscard]] Bytes encode_manifest(const Manifest& manifest);
// Safe on untrusted input. Ignores unknown members. Errors:
//  - manifest_invalid, with the path of the member ("entries[3].kernels[0].local_bytes: expected an
//    unsigned integer, found -1"), for wrong types, numbers out of range, duplicate keys, depth
//    above 16, an entry without its digest, a kernel without its name, and a measurement or a
//    known answer that breaks a rule.
//  - limit_exceeded for more than 64 MiB or 4 Mi values, and for more memory than `budget` has
//    left. The memory of the result is deducted from it.
//  - out_of_memory.
[[nodiscard]] Result<Manifest> decode_manifest(ByteView json, ReadBudget* budget = nullptr);

// Whether a header with this name may be passed to drivers: a relative path without empty, "." or
// ".." parts and control characters. PoCL 3.1 writes embedded headers to files with these names in
// its cache directory, and follows "..".
[[nodiscard]] bool is_valid_include_name(std::string_view name);

// Returns the raw bytes of a source blob (clbin(5), SOURCE). Deterministic. Include names must not
// be empty and must not contain null characters; texts must be shorter than 4 GiB.
[[nodiscard]] Bytes encode_source_package(const SourcePackage& package);
// Safe on untrusted input. Errors: truncated, damaged (a duplicate or invalid include name, an
// empty main text, extra bytes), newer_version, limit_exceeded (more than 131,072 files, or more
// memory than `budget`, if not null, has left).
[[nodiscard]] Result<SourcePackage> decode_source_package(ByteView bytes,
                                                          ReadBudget* budget = nullptr);

} // namespace clbin::format
