// Makes bundles. write_bundle() creates a draft from inputs, and merge and strip create one from
// other bundles; assemble_bundle() encodes it. A draft is never encrypted: its digests are those of
// raw bytes without a key, and its frames can be decompressed. Its order is canonical and does not
// depend on the order of insertion.
#pragma once

#include "format/bundle/encryption.hpp"
#include "format/bundle/manifest.hpp"
#include "format/bundle/measurements.hpp"

#include <set>

namespace clbin::format {

// The stored bytes of a blob.
struct FrameDraft {
  base::KeptBytes stored;
  Digest stored_digest;
  std::uint64_t raw_bytes = 0;
  BlobCodec codec = BlobCodec::stored;
  std::optional<Digest> reference; // raw digest
};

struct EntryDraft {
  ManifestEntry row; // add_entry sets its raw_digest
  Digest raw_digest;
  std::uint64_t match_key = 0;
  PayloadType type = PayloadType::executable;
  std::uint8_t address_bits = 0;
};

// No two entries of a program have the same identity.
struct EntryIdentity {
  std::string variant;
  Digest target;
  std::uint64_t kind = 0;
  friend auto operator<=>(const EntryIdentity&, const EntryIdentity&) = default;
};

struct ProgramDraft {
  std::string producer;
  std::optional<Digest> source;                 // raw digest
  std::map<std::string, VariantInput> variants; // by name
  std::map<EntryIdentity, EntryDraft> entries;
  std::set<RecordedLaunch> launches;
  std::map<std::pair<std::string, Digest>, RecordedBuild> builds; // by variant and target
  std::set<Measurement, ByPlace> measurements;
  std::set<KnownAnswer, ByPlace> answers;
};

struct BundleDraft {
  std::map<std::string, ProgramDraft> programs;
  std::map<Digest, FrameDraft> frames; // by raw digest
};

// Returns the entry without the frame of its payload. Errors: those of reading the payload;
// invalid_argument if it is empty, for a program's name that is empty or contains a zero byte, and
// for a kernel's name that does, is not unique, or contains a semicolon.
[[nodiscard]] Result<EntryDraft> draft_of(const std::string& program, const EntryInput& entry);
// Adds an entry. Of equal entries with different rows, keeps the least. Error: conflict, with
// program, variant and target, if an entry with the same identity has another payload.
[[nodiscard]] Result<void> add_entry(BundleDraft& draft, const std::string& program,
                                     EntryDraft entry);
// Adds a build. The kernels of equal builds are united.
void add_build(ProgramDraft& draft, RecordedBuild build);
// Adds a measurement. Of those of one place, keeps the one that replaces the others.
void add_measurement(ProgramDraft& draft, Measurement measurement);
// Adds a known answer. Of recorded ones of the same launch, keeps the least. Error: conflict, if
// the draft has other results of the same launch.
[[nodiscard]] Result<void> add_answer(ProgramDraft& draft, const std::string& program,
                                      KnownAnswer answer);
// Adds a frame. Of frames with the same raw bytes, keeps the least: without a reference before with
// one, then by stored size, stored digest and reference.
void add_frame(BundleDraft& draft, const Digest& raw_digest, FrameDraft frame);

// Returns true if both store the same bytes in the same way. Compares only digests.
[[nodiscard]] bool is_same_frame(const FrameDraft& a, const FrameDraft& b);

[[nodiscard]] FrameDraft frame_of(BlobCodec codec, Bytes stored, std::uint64_t raw_bytes);
[[nodiscard]] FrameDraft store_alone(ByteView raw);
// Compresses without a reference: zstd at `level`, or stored if zstd is not smaller.
[[nodiscard]] Result<FrameDraft> compress_alone(ByteView raw, int level);

// Chooses the reference of each payload. Similar binaries (one kernel for six architectures) shrink
// to a fraction if one of them, a "hub", is the zstd prefix of the others.
struct ReferencePayload {
  base::KeptBytes raw;
  BinaryKind kind = BinaryKind::unknown;
};

// Certainty of the estimate that the reference saves bytes.
enum class Saving : std::uint8_t { clear, doubtful };

struct ReferenceChoice {
  std::optional<std::size_t> reference; // index of a payload without a reference
  Saving saving = Saving::clear;
};

// Returns one choice for each payload. The choices depend on the order of the payloads; if it is
// that of their digests, the choices depend only on the set. Compresses each payload at most 17
// times at a fast level, and does not compress the only payload of a kind. Keeps one or two
// payloads in memory at a time. Errors: any error of compression, or of reading the payloads.
[[nodiscard]] Result<std::vector<ReferenceChoice>>
choose_references(std::span<const ReferencePayload> payloads);

// Frames of sources that were compressed before the rest of their bundle is known.
struct SourceFrames {
  int compression_level = 0;
  std::map<Digest, FrameDraft> frames; // by raw digest
};

// Adds the frame of a source. Errors of compression.
[[nodiscard]] Result<void> compress_source(const SourcePackage& source, SourceFrames& frames);

struct WriteOptions {
  int compression_level = 19;
  // Contains compressed bytes until the whole bundle is written; if null, they are kept in memory.
  std::shared_ptr<base::SpillFile> spill{};
  // Encrypts the contents with this key, for these slots.
  std::optional<Encryption> encryption{};
  // Where else entries of the bundle are, in any order and without duplicates.
  std::vector<PackRecord> packs{};
  // Called once if the bundle is written. Its frames are used if they have the same compression
  // level, and do not change the bytes. May be empty, and return null.
  std::function<std::shared_ptr<const SourceFrames>()> sources{};
};

// Encodes and compresses the manifests; the draft must contain every other frame. Uses only the
// encryption and the spill file of `options`. Errors: any error of compression, and
// invalid_argument if a name or a table is too large for the format, or if the slots are not those
// of the key.
[[nodiscard]] Result<Bytes> assemble_bundle(BundleDraft draft, const WriteOptions& options = {});
// Passes the same bytes to `sink`, in order and in parts. Errors: also any error of `sink`, and of
// reading spilled bytes.
using ByteSink = std::function<Result<void>(ByteView)>;
[[nodiscard]] Result<void> assemble_bundle(BundleDraft draft, const WriteOptions& options,
                                           const ByteSink& sink);
// For one entry of a cache, which requires nothing and was not measured. Does not compress its
// manifest, and does not ensure that a reader with the default limits accepts it.
[[nodiscard]] Result<Bytes> assemble_entry(BundleDraft draft);

// Returns the bytes of a bundle. They depend only on `input`, the compression level, libzstd's
// version, and the key and slots of the encryption. They do not depend on the order of programs,
// variants, entries or slots, or on other properties of this machine.
// Error: invalid_argument for an empty or duplicate name, an empty payload, an entry whose variant
// its program does not list, two different payloads for one program, variant, target and binary
// kind, slots that are not those of the key, a measurement that breaks a rule, or is of another
// source or a variant that its program does not list, and a known answer of which that is true.
// Data that recorded answers name and the input does not contain are left to a merge.
[[nodiscard]] Result<Bytes> write_bundle(const BundleInput& input, const WriteOptions& options);
// Passes the same bytes to `sink`, in order and in parts, after all other work is done. Payloads
// are read from where they are kept, one or two at a time. Errors: also any error of `sink`, and of
// reading payloads.
[[nodiscard]] Result<void> write_bundle(const BundleInput& input, const WriteOptions& options,
                                        const ByteSink& sink);

} // namespace clbin::format
