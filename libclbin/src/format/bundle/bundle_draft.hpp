// A bundle between its contents and its bytes: what the writer makes of inputs, and merge and strip
// of other bundles. Its order is canonical, whatever the order in which it was filled.
#pragma once

#include "base/digest.hpp"
#include "base/kept_bytes.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/manifest.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbin::format {

// The stored bytes of a blob.
struct FrameDraft {
  base::KeptBytes stored;
  base::Digest stored_digest;
  std::uint64_t raw_bytes = 0;
  BlobCodec codec = BlobCodec::stored;
  std::optional<base::Digest> reference; // raw digest
};

struct EntryDraft {
  ManifestEntry row; // its raw_digest is filled in by add_entry
  base::Digest raw_digest;
  std::uint64_t match_key = 0;
  PayloadType type = PayloadType::executable;
  std::uint8_t address_bits = 0;
};

// No two entries have one of these.
struct EntryIdentity {
  std::string variant;
  base::Digest target;
  std::uint64_t kind = 0;
  friend auto operator<=>(const EntryIdentity&, const EntryIdentity&) = default;
};

struct ProgramDraft {
  std::string producer;
  std::optional<base::Digest> source;          // raw digest
  std::map<std::string, std::string> variants; // name → options
  std::map<EntryIdentity, EntryDraft> entries;
};

struct BundleDraft {
  std::map<std::string, ProgramDraft> programs;
  std::map<base::Digest, FrameDraft> frames; // by raw digest
};

// Of equal entries with different rows the least stays. conflict, with program, variant and target,
// when an entry of the same identity has another payload.
[[nodiscard]] base::Result<void> add_entry(BundleDraft& draft, const std::string& program,
                                           EntryDraft entry);
// Of frames of the same raw bytes the least stays: without reference before with one, then by
// stored size, stored digest, reference.
void add_frame(BundleDraft& draft, const base::Digest& raw_digest, FrameDraft frame);

// Whether they store the same bytes in the same way. Compares digests only.
[[nodiscard]] bool is_same_frame(const FrameDraft& a, const FrameDraft& b);

// The frame of a blob that is compressed alone: zstd at `level`, or stored where that is not
// smaller.
[[nodiscard]] base::Result<FrameDraft> compress_alone(base::ByteView raw, int level);

// The bytes. Encodes and compresses the manifests; every other frame must be there. Any error of
// compression; invalid_argument where a name or a table is too large for the format.
[[nodiscard]] base::Result<base::Bytes> assemble_bundle(BundleDraft draft);
// The same bytes, in order and in parts; also any error of `sink`, and of reading what was spilled.
using ByteSink = std::function<base::Result<void>(base::ByteView)>;
[[nodiscard]] base::Result<void> assemble_bundle(BundleDraft draft, const ByteSink& sink);

} // namespace clbin::format
