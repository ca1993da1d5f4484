// The contents of one bundle for --info, damaged or not.
#pragma once

#include "format/bundle/bundle_reader.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

struct EntrySummary {
  clbin::format::EntryView entry;
  std::optional<clbin::format::BlobView> blob;
  // Null if the manifest is unreadable.
  std::shared_ptr<const clbin::format::ManifestEntry> details;
};

struct SourceSummary {
  std::string name;
  std::uint64_t bytes = 0;
  clbin::base::Digest digest;
};

struct GroupSummary {
  clbin::format::GroupView group;
  // Main file first; empty if there is no source, or it is unreadable. Variants of a program share
  // it.
  std::shared_ptr<const std::vector<SourceSummary>> sources;
  std::vector<EntrySummary> entries;
};

struct BundleHead {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint64_t total_bytes = 0; // as declared by the bundle
  std::uint32_t entry_count = 0;
  clbin::base::Digest root;
};

struct BundleSummary {
  std::string file; // as given on the command line; "<stdin>" for "-"
  std::optional<BundleHead> head;
  std::vector<GroupSummary> groups;
  std::vector<clbin::base::Error> errors; // empty if everything that --info reads is valid
};

// Reads tables, manifests and sources, but no payload. Omits unreadable parts, and `errors` has the
// reasons. Of a truncated bundle, reads the part that exists.
[[nodiscard]] BundleSummary summarize_bundle(const std::filesystem::path& path);

// Returns the errors of all bundles, in order.
[[nodiscard]] std::vector<clbin::base::Error> errors_of(const std::vector<BundleSummary>& bundles);

} // namespace oclcc
