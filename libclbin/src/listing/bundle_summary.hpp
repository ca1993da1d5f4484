// The contents of bundles for people and programs that inspect them, damaged or not; and as JSON,
// which --info --json and clbin_list_json write.
#pragma once

#include "base/json_document.hpp"
#include "format/binary/spirv_features.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <set>

namespace clbin::listing {

struct EntrySummary {
  format::EntryView entry;
  std::optional<format::BlobView> blob;
  // Null if the manifest is unreadable.
  std::shared_ptr<const format::ManifestEntry> details;
  // What a SPIR-V module requires; absent for other binaries, and if it cannot be read.
  std::optional<format::SpirvFeatures> spirv{};
};

struct SourceSummary {
  std::string name;
  std::string display_name; // for messages; of a recording, the label of the main file
  std::uint64_t bytes = 0;
  base::Digest digest;
};

struct GroupSummary {
  format::GroupView group;
  // Main file first; empty if there is no source, or it is unreadable. Variants of a program share
  // it.
  std::shared_ptr<const std::vector<SourceSummary>> sources;
  std::vector<EntrySummary> entries;
  // Of a recording, sorted; empty if the manifest is unreadable.
  std::vector<format::RecordedLaunch> launches;
  std::vector<format::RecordedBuild> builds;
  std::vector<format::Measurement> measurements{}; // sorted by kernel, sizes and device
  std::vector<format::KnownAnswer> answers{};      // sorted by kernel, sizes and arguments
};

struct BundleSummary {
  std::string file; // the name for messages
  std::optional<format::Prefix> head;
  std::uint32_t entry_count = 0;
  std::vector<GroupSummary> groups;
  std::vector<format::TrailingRecord> signatures; // and counters and vouches
  std::vector<base::Error> errors;                // empty if every byte is valid
  std::vector<format::KeySlot> key_slots{};       // none: not encrypted, or unreadable
  bool is_locked = false;                         // encrypted contents are not read
  std::map<std::string, base::Digest> packs{};    // that contain other entries: name and root
};

// The errors of one bundle, each once. Lists at most 1000, and cuts long messages.
class ErrorList {
public:
  // `bundle` is the name for messages.
  explicit ErrorList(std::string bundle) : m_bundle(std::move(bundle)) {}

  void add(const base::Error& error);
  [[nodiscard]] const std::string& bundle() const noexcept { return m_bundle; }
  [[nodiscard]] const std::vector<base::Error>& list() const noexcept { return m_errors; }

private:
  std::string m_bundle;
  std::vector<base::Error> m_errors;
  std::set<base::Digest> m_known; // of the messages
};

// Prefixes the message with "a.clbin: ", unless it already names the bundle.
[[nodiscard]] base::Error named_error(base::Error error, std::string_view bundle);

// Verifies the bundle, and reads its tables, manifests and sources. Omits unreadable parts; their
// errors follow those of `errors`. Omits the contents of a locked bundle, which is no error. If
// there is no other error, lists the one of verifying. Needs no more memory than `reader` grants a
// call, and that of the bundle's tables.
[[nodiscard]] BundleSummary summarize(const format::BundleReader& reader, ErrorList errors);

// Writes the document of oclcc/schema/info.schema.json.
class BundlesJson {
public:
  explicit BundlesJson(base::JsonStream::Sink sink);

  void add(const BundleSummary& bundle);
  // For objects about a bundle of another schema.
  [[nodiscard]] base::JsonStream& stream() noexcept { return m_document; }
  // Ends the document. Returns whether all of it was written.
  [[nodiscard]] bool finish();

private:
  base::JsonStream m_document;
};

// Returns "matmul(global float* restrict C, int width)", or "matmul(5 arguments)" or "matmul(...)"
// if less is known.
[[nodiscard]] std::string kernel_signature(const format::KernelReflection& kernel);

} // namespace clbin::listing
