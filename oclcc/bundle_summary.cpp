#include "bundle_summary.hpp"

#include "bundle_file.hpp"
#include "truncated_source.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;

namespace {

using Source = std::shared_ptr<const base::ByteSource>;

// A bundle with more is beyond repair.
constexpr std::size_t k_max_told_errors = 1000;
// Names of up to 1 MiB occur in messages.
constexpr std::size_t k_max_message_bytes = 4096;

// Without a part of a UTF-8 sequence at the end.
std::string shortened(std::string message) {
  if (message.size() <= k_max_message_bytes) {
    return message;
  }
  std::size_t end = k_max_message_bytes;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  message.resize(end);
  return message + "...";
}

SourceSummary summary_of(const format::SourceFile& file) {
  return {file.include_name, file.text.size(), base::digest_of(base::as_bytes(file.text))};
}

class Summarizer {
public:
  explicit Summarizer(const std::filesystem::path& path) : m_path(path) {
    m_summary.file = bundle_name(path);
  }

  BundleSummary run() {
    const auto source = open_bundle_source(m_path);
    if (!source) {
      m_summary.errors.push_back(source.error());
      return std::move(m_summary);
    }
    const auto reader = open(*source);
    if (reader) {
      summarize(*reader);
    }
    return std::move(m_summary);
  }

private:
  // Tells the same error of many records once.
  void add_error(const base::Error& error) {
    std::string message = shortened(named_error(error, m_path).message);
    if (m_summary.errors.size() > k_max_told_errors || m_told.contains(message)) {
      return;
    }
    if (m_summary.errors.size() == k_max_told_errors) {
      m_summary.errors.push_back(
          {error.code, fmt::format("{}: more than {} errors: the others are not listed",
                                   m_summary.file, k_max_told_errors)});
      return;
    }
    m_summary.errors.push_back({error.code, message});
    m_told.insert(std::move(message));
  }

  std::optional<format::BundleReader> open(const Source& source) {
    auto reader = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
    if (reader) {
      return std::move(*reader);
    }
    add_error(reader.error());
    if (reader.error().code == base::ErrorCode::trailing_bytes) {
      reader = format::BundleReader::open(source, {}, format::TrailingBytes::ignore);
    } else if (const Source whole = as_if_whole(source); whole != nullptr) {
      reader = format::BundleReader::open(whole, {}, format::TrailingBytes::refuse);
    }
    return reader ? std::optional(std::move(*reader)) : std::nullopt;
  }

  void summarize(const format::BundleReader& reader) {
    const auto [major, minor] = reader.format_version();
    m_summary.head = {major, minor, reader.total_bytes(), reader.entry_count(),
                      reader.root_digest()};
    for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
      const auto group = reader.group(i);
      if (!group) {
        add_error(group.error());
        continue;
      }
      m_summary.groups.push_back({*group, sources_of(reader, *group), {}});
      add_entries(reader, m_summary.groups.back());
    }
    // The table's own order is that of hashes.
    std::sort(m_summary.groups.begin(), m_summary.groups.end(),
              [](const GroupSummary& a, const GroupSummary& b) {
                return std::tie(a.group.program, a.group.variant) <
                       std::tie(b.group.program, b.group.variant);
              });
    // What the tables say may be whole while a payload is not.
    if (m_summary.errors.empty()) {
      if (const auto verified = reader.verify(); !verified) {
        add_error(verified.error());
      }
    }
  }

  std::vector<SourceSummary> sources_of(const format::BundleReader& reader,
                                        const format::GroupView& group) {
    if (group.source_blob == format::k_no_index) {
      return {};
    }
    const auto package = reader.read_source(group);
    if (!package) {
      add_error(package.error());
      return {};
    }
    std::vector<SourceSummary> sources = {summary_of(package->main)};
    for (const format::SourceFile& header : package->headers) {
      sources.push_back(summary_of(header));
    }
    return sources;
  }

  // The variants of a program share a manifest. Null where it cannot be read.
  const format::Manifest* manifest_of(const format::BundleReader& reader,
                                      const format::GroupView& group) {
    const auto known = m_manifests.find(group.manifest_blob);
    if (known != m_manifests.end()) {
      return known->second ? &*known->second : nullptr;
    }
    auto manifest = reader.read_manifest(group);
    if (!manifest) {
      add_error(manifest.error());
    }
    auto& kept = m_manifests[group.manifest_blob];
    if (manifest) {
      kept = std::move(*manifest);
    }
    return kept ? &*kept : nullptr;
  }

  void add_entries(const format::BundleReader& reader, GroupSummary& summary) {
    const format::GroupView& group = summary.group;
    const format::Manifest* const manifest = manifest_of(reader, group);
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      auto entry = reader.entry(group.first_entry + i, group);
      if (!entry) {
        add_error(entry.error());
        continue;
      }
      EntrySummary item{std::move(*entry), std::nullopt, std::nullopt};
      if (const auto blob = reader.blob(item.entry.blob)) {
        item.blob = *blob;
      } else {
        add_error(blob.error());
      }
      if (manifest != nullptr && item.entry.manifest_row < manifest->entries.size()) {
        item.details = manifest->entries[item.entry.manifest_row];
      }
      summary.entries.push_back(std::move(item));
    }
  }

  std::filesystem::path m_path;
  BundleSummary m_summary;
  std::set<std::string, std::less<>> m_told; // the messages of m_summary.errors
  std::map<std::uint32_t, std::optional<format::Manifest>> m_manifests; // by blob
};

} // namespace

BundleSummary summarize_bundle(const std::filesystem::path& path) {
  return Summarizer(path).run();
}

std::vector<clbin::base::Error> errors_of(const std::vector<BundleSummary>& bundles) {
  std::vector<clbin::base::Error> errors;
  for (const BundleSummary& bundle : bundles) {
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
  }
  return errors;
}

} // namespace oclcc
