// The JSON manifest of a program: reflection, options, logs, tool versions. Read by --info and by
// reflection, never on the load path.
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"
#include "format/bundle/bundle.hpp"
#include "format/bundle/read_budget.hpp"

namespace clbin::format {

struct ManifestEntry {
  std::string variant;
  Target target;
  std::string options;
  std::string raw_digest; // row_digest of the payload: ties the row to it
  std::vector<KernelReflection> kernels;
  std::string build_log;
  std::map<std::string, std::string> tools;
  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

struct Manifest {
  std::string producer;
  std::string program;
  std::vector<ManifestEntry> entries; // ENTRY.manifest_row counts in these
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The first 16 hexadecimal digits of a raw digest: the tables hold the whole one, and a digest does
// not compress.
[[nodiscard]] std::string row_digest(const base::Digest& raw_digest);

// Deterministic: keys sorted, members at their defaults left out, no white space, bytes that are
// not UTF-8 escaped as clbin(5) says (text_escape.hpp).
[[nodiscard]] base::Bytes encode_manifest(const Manifest& manifest);
// Safe on untrusted input. manifest_invalid, with the path of the member ("entries[3].kernels[0].
// local_bytes: expected an unsigned integer, found -1"): wrong types, numbers out of range,
// duplicate keys, depth above 16, an entry without its digest, a kernel without its name.
// limit_exceeded: more than 64 MiB or 4 Mi values, or than is left of `budget`, from which what it
// makes is taken. Unknown members are skipped. out_of_memory.
[[nodiscard]] base::Result<Manifest> decode_manifest(base::ByteView json,
                                                     ReadBudget* budget = nullptr);

} // namespace clbin::format
