// The stage between the contents of a bundle and its bytes. It is never encrypted: its digests are
// those of raw bytes without a key, and its frames can be decompressed. The writer creates a draft
// from inputs; merge and strip create it from other bundles. Its order is canonical and does not
// depend on the order of insertion.
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/encryption.hpp"
#include "format/bundle/manifest.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
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
  ManifestEntry row; // add_entry sets its raw_digest
  base::Digest raw_digest;
  std::uint64_t match_key = 0;
  PayloadType type = PayloadType::executable;
  std::uint8_t address_bits = 0;
};

// No two entries of a program have the same identity.
struct EntryIdentity {
  std::string variant;
  base::Digest target;
  std::uint64_t kind = 0;
  friend auto operator<=>(const EntryIdentity&, const EntryIdentity&) = default;
};

struct ProgramDraft {
  std::string producer;
  std::optional<base::Digest> source;          // raw digest
  std::map<std::string, std::string> variants; // from name to options
  std::map<EntryIdentity, EntryDraft> entries;
  std::set<RecordedLaunch> launches;
  std::map<std::pair<std::string, base::Digest>, RecordedBuild> builds; // by variant and target
};

struct BundleDraft {
  std::map<std::string, ProgramDraft> programs;
  std::map<base::Digest, FrameDraft> frames; // by raw digest
};

// Adds an entry. Of equal entries with different rows, keeps the least. Error: conflict, with
// program, variant and target, if an entry with the same identity has another payload.
[[nodiscard]] base::Result<void> add_entry(BundleDraft& draft, const std::string& program,
                                           EntryDraft entry);
// Adds a build. The kernels of equal builds are united.
void add_build(ProgramDraft& draft, RecordedBuild build);
// Adds a frame. Of frames with the same raw bytes, keeps the least: without a reference before with
// one, then by stored size, stored digest and reference.
void add_frame(BundleDraft& draft, const base::Digest& raw_digest, FrameDraft frame);

// Returns true if both store the same bytes in the same way. Compares only digests.
[[nodiscard]] bool is_same_frame(const FrameDraft& a, const FrameDraft& b);

// Returns the frame of a blob that is not compressed.
[[nodiscard]] FrameDraft store_alone(base::ByteView raw);
// Returns the frame of a blob that is compressed without a reference: zstd at `level`, or stored if
// zstd is not smaller.
[[nodiscard]] base::Result<FrameDraft> compress_alone(base::ByteView raw, int level);

struct AssemblyOptions {
  const Encryption* encryption = nullptr; // encrypts every blob, unless it is null
  // Contains encrypted bytes until the whole bundle is written; if null, they are kept in memory.
  std::shared_ptr<base::SpillFile> spill{};
};

// Returns the bytes of the bundle. Encodes and compresses the manifests; the draft must contain
// every other frame. Errors: any error of compression, and invalid_argument if a name or a table is
// too large for the format, or if the slots are not those of the key.
[[nodiscard]] base::Result<base::Bytes> assemble_bundle(BundleDraft draft,
                                                        const AssemblyOptions& options = {});
// Passes the same bytes to `sink`, in order and in parts. Errors: also any error of `sink`, and of
// reading spilled bytes.
using ByteSink = std::function<base::Result<void>(base::ByteView)>;
[[nodiscard]] base::Result<void> assemble_bundle(BundleDraft draft, const AssemblyOptions& options,
                                                 const ByteSink& sink);

} // namespace clbin::format
