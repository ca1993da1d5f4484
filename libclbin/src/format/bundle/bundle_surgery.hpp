// Merge and strip copy the frames of payloads and sources without recompressing them, and create
// new manifests. Repack compresses everything again. All three prove the raw digest of every blob
// that they copy or unpack (digest_mismatch).
// Encrypted inputs must be unlocked (`encrypted`). The result is encrypted only if the caller
// passes an encryption. With the key of the inputs, equal frames have equal stored bytes, as if
// they were copied; otherwise they are encrypted again.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"

namespace clbin::format {

// Returns the union of the bundles. Of payloads with the same raw digest, keeps the minimum of
// (without reference before with one, stored size, stored digest), so that the order of `inputs`
// does not matter. Errors: any reader error, and conflict, whose message names the program and both
// inputs, if a program has different sources or measurements of another source, a variant has
// different options, two different payloads have the same program, variant, target and binary kind,
// a launch has two known answers, or a pack two roots. The result names the packs that the inputs
// name, apart from those that are inputs.
[[nodiscard]] Result<Bytes> merge_bundles(std::span<const BundleReader* const> inputs,
                                          const Encryption* encryption = nullptr);

enum class KeepSource : std::uint8_t { yes, no };
enum class KeepReflection : std::uint8_t { yes, names_only };
enum class KeepMeasurements : std::uint8_t {
  yes,
  no,
  only, // of an entry or a source nothing is kept, whatever else says so
};
// only_recorded: those with data of an application. only_others: those without.
enum class KeepAnswers : std::uint8_t { yes, no, only_recorded, only_others };
// A loser was measured, and is the first variant of no ranking (rank_variants) of all launches or
// of one class: no load prefers it, on measured devices or on others. "default", which loads take
// without measurements, is none.
enum class KeepLosers : std::uint8_t { yes, no };

// What of a bundle strip keeps: everything, by default.
struct StripSelection {
  std::function<bool(const EntryView&)> keep{}; // for each entry; empty: all
  KeepSource source = KeepSource::yes;
  KeepReflection reflection = KeepReflection::yes;
  KeepMeasurements measurements = KeepMeasurements::yes; // `no` applies after the losers are known
  KeepLosers losers = KeepLosers::yes;
  KeepAnswers answers = KeepAnswers::yes;
};

struct StripResult {
  Bytes bytes;
  std::uint64_t dropped_entries = 0;
  // "program 'NAME'" or "program 'NAME', variant 'NAME'": dropped because nothing of them is left.
  std::vector<std::string> dropped_names;
  std::vector<std::string> removed_losers; // of the same form
  std::uint64_t hidden_count = 0;          // payloads kept only as references of others
  std::uint64_t hidden_stored_bytes = 0;   // their total size
  std::uint64_t hidden_dependents = 0;     // number of payloads that need them
};

// Returns what the selection keeps of the bundle. A payload is kept as a hidden one if a kept
// payload is compressed against it. Variants with neither entries nor source are removed, unless
// the bundle names packs, as are programs without variants. Without reflection, only the names of
// kernels are kept, because loading needs them. With measurements only, the variants that were
// measured are kept. Signatures are removed (clbin(5)). Errors: any reader error, and
// invalid_argument if nothing would be left.
[[nodiscard]] Result<StripResult> strip_bundle(const BundleReader& input,
                                               const StripSelection& selection,
                                               const Encryption* encryption = nullptr);

// Returns the whole contents of a bundle as input of the writer, with proved raw digests. Programs
// are sorted by name; entries are in table order. Payloads are kept in `spill`, or in memory if it
// is null. Errors: any reader error, and file_write.
[[nodiscard]] Result<BundleInput> unpack_bundle(const BundleReader& input,
                                                const std::shared_ptr<base::SpillFile>& spill = {});

// Returns what write_bundle makes of the same contents, with newly chosen references and without
// hidden payloads. Payloads are kept in options.spill meanwhile. Errors: as unpack_bundle.
[[nodiscard]] Result<Bytes> repack_bundle(const BundleReader& input, const WriteOptions& options);

} // namespace clbin::format
