// What --info shows of one bundle, damaged or not.
#pragma once

#include "format/bundle_reader.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

struct EntrySummary {
  clbin::format::EntryView entry;
  std::optional<clbin::format::BlobView> blob;
  // Null where the manifest is unreadable.
  std::shared_ptr<const clbin::format::ManifestEntry> details;
};

struct SourceSummary {
  std::string name;
  std::uint64_t bytes = 0;
  clbin::base::Digest digest;
};

struct GroupSummary {
  clbin::format::GroupView group;
  // Main file first; empty: none kept, or unreadable. Variants of a program share it.
  std::shared_ptr<const std::vector<SourceSummary>> sources;
  std::vector<EntrySummary> entries;
};

struct BundleHead {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint64_t total_bytes = 0; // as the bundle says
  std::uint32_t entry_count = 0;
  clbin::base::Digest root;
};

struct BundleSummary {
  std::string file; // as the user named it; "<stdin>" for "-"
  std::optional<BundleHead> head;
  std::vector<GroupSummary> groups;
  std::vector<clbin::base::Error> errors; // empty: all that --info looks at is sound
};

// Reads tables, manifests and sources, but no payload. What cannot be read is left out, and
// `errors` says why. Of a bundle that is cut, what lies before the cut is shown.
[[nodiscard]] BundleSummary summarize_bundle(const std::filesystem::path& path);

// Of all of them, in order.
[[nodiscard]] std::vector<clbin::base::Error> errors_of(const std::vector<BundleSummary>& bundles);

} // namespace oclcc
