// Merge and strip: the frames of payloads and sources are copied, never recompressed; manifests are
// made afresh. Repack: everything is compressed afresh. All three prove the raw digest of every
// blob that they copy or unpack: digest_mismatch if its raw bytes have another one.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <functional>
#include <string>
#include <vector>

namespace clbin::format {

// The union of the bundles: payloads by raw digest, of equal ones the minimum of (alone before
// prefixed, stored size, stored digest), so that the order of `inputs` cannot matter. conflict: the
// same program has another source, the same variant other options, or one program, variant,
// target and binary kind two different payloads; the message names program and both inputs. Any
// reader error.
[[nodiscard]] base::Result<base::Bytes> merge_bundles(std::span<const BundleReader* const> inputs);

enum class KeepSource : std::uint8_t { yes, no };
enum class KeepReflection : std::uint8_t { yes, names_only };

struct StripResult {
  base::Bytes bytes;
  std::uint64_t dropped_entries = 0;
  // "program 'NAME'" or "program 'NAME', variant 'NAME'": dropped, since nothing of them is left.
  std::vector<std::string> dropped_names;
  std::uint64_t hidden_count = 0; // payloads kept only because others are compressed against them
  std::uint64_t hidden_stored_bytes = 0; // their size
  std::uint64_t hidden_dependents = 0;   // how many payloads need them
};

// The bundle without the entries for which `keep` says no. A payload that a kept one is compressed
// against stays, hidden; a variant with neither entry nor source goes, and a program without
// variants. Without reflection, of each kernel the name stays, which loading needs. Signatures are
// dropped (clbin(5)). invalid_argument: nothing would be left. Any reader error.
[[nodiscard]] base::Result<StripResult>
strip_bundle(const BundleReader& input, const std::function<bool(const EntryView&)>& keep,
             KeepSource keep_source, KeepReflection keep_reflection = KeepReflection::yes);

// All a bundle holds, as the writer takes it, raw digests proved. Programs are sorted by name,
// entries as in the table. Payloads wait in `spill`, or in memory without one. Any reader error;
// file_write.
[[nodiscard]] base::Result<BundleInput>
unpack_bundle(const BundleReader& input, const std::shared_ptr<base::SpillFile>& spill = {});

// The bundle that write_bundle makes of the same contents: references are chosen afresh, hidden
// payloads are gone. Payloads, raw and compressed, wait in options.spill. Any reader error;
// file_write.
[[nodiscard]] base::Result<base::Bytes> repack_bundle(const BundleReader& input,
                                                      const WriteOptions& options);

} // namespace clbin::format
