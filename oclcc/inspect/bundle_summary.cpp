#include "inspect/bundle_summary.hpp"

#include "format/bundle/text_budget.hpp"
#include "input/bundle_file.hpp"
#include "input/truncated_source.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;

namespace {

using Source = std::shared_ptr<const base::ByteSource>;
using Rows = std::shared_ptr<const std::vector<format::ManifestEntry>>;

// A bundle with more is beyond repair.
constexpr std::size_t k_max_told_errors = 1000;
// What --info --json writes of a kernel of which only the name is known.
constexpr std::uint64_t k_shown_kernel_bytes = 512;
// Names of up to 1 MiB occur in messages.
constexpr std::size_t k_max_message_bytes = 4096;

// Avoids a partial UTF-8 sequence at the end.
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
  // Records the same error of many records once.
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
    format::TextBudget budget(reader.total_bytes());
    for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
      const auto group = reader.group(i);
      if (!group) {
        add_error(group.error());
        continue;
      }
      m_summary.groups.push_back({*group, sources_of(reader, *group), {}});
      if (const auto added = add_texts(reader, m_summary.groups.back(), budget); !added) {
        add_error(added.error());
        m_summary.groups.pop_back();
        break; // the others are not shown
      }
    }
    // The table is sorted by hash.
    std::sort(m_summary.groups.begin(), m_summary.groups.end(),
              [](const GroupSummary& a, const GroupSummary& b) {
                return std::tie(a.group.program, a.group.variant) <
                       std::tie(b.group.program, b.group.variant);
              });
    // The tables may be valid although a payload is not.
    if (m_summary.errors.empty()) {
      if (const auto verified = reader.verify(); !verified) {
        add_error(verified.error());
      }
    }
  }

  // Returns the source, which the variants of a program share. Null if it cannot be read.
  std::shared_ptr<const std::vector<SourceSummary>> sources_of(const format::BundleReader& reader,
                                                               const format::GroupView& group) {
    if (group.source_blob == format::k_no_index) {
      return no_sources();
    }
    const auto known = m_sources.find(group.source_blob);
    if (known != m_sources.end()) {
      return known->second;
    }
    std::vector<SourceSummary> sources;
    const auto package = reader.read_source(group);
    if (package) {
      sources.push_back(summary_of(package->main));
      for (const format::SourceFile& header : package->headers) {
        sources.push_back(summary_of(header));
      }
    } else {
      add_error(package.error());
    }
    return m_sources[group.source_blob] =
               std::make_shared<const std::vector<SourceSummary>>(std::move(sources));
  }

  static std::shared_ptr<const std::vector<SourceSummary>> no_sources() {
    return std::make_shared<const std::vector<SourceSummary>>();
  }

  // Returns the manifest, which the variants of a program share. Null if it cannot be read.
  base::Result<Rows> rows_of(const format::BundleReader& reader, const format::GroupView& group,
                             format::TextBudget& budget) {
    const auto known = m_manifests.find(group.manifest_blob);
    if (known != m_manifests.end()) {
      return known->second.rows;
    }
    if (const auto blob = reader.blob(group.manifest_blob)) {
      CLBIN_TRY(budget.take(blob->raw_bytes / 2)); // names of members are not kept
    }
    auto manifest = reader.read_manifest(group);
    if (!manifest) {
      add_error(manifest.error());
    }
    KeptManifest& kept = m_manifests[group.manifest_blob];
    if (manifest) {
      kept.taken.resize(manifest->entries.size());
      kept.rows =
          std::make_shared<const std::vector<format::ManifestEntry>>(std::move(manifest->entries));
    }
    return kept.rows;
  }

  base::Result<void> add_texts(const format::BundleReader& reader, GroupSummary& summary,
                               format::TextBudget& budget) {
    CLBIN_TRY(budget.take(summary.group));
    for (const SourceSummary& source : *summary.sources) {
      CLBIN_TRY(budget.take(sizeof source + source.name.size()));
    }
    return add_entries(reader, summary, budget);
  }

  base::Result<void> add_entries(const format::BundleReader& reader, GroupSummary& summary,
                                 format::TextBudget& budget) {
    const format::GroupView& group = summary.group;
    CLBIN_TRY_ASSIGN(const Rows rows, rows_of(reader, group, budget));
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      auto entry = reader.entry(group.first_entry + i, group);
      if (!entry) {
        add_error(entry.error());
        continue;
      }
      CLBIN_TRY(budget.take(*entry));
      if (rows == nullptr) { // each is shown without the bytes of a manifest to pay for it
        CLBIN_TRY(budget.take(k_shown_kernel_bytes * entry->kernels.size()));
      }
      EntrySummary item{std::move(*entry), std::nullopt, nullptr};
      if (const auto blob = reader.blob(item.entry.blob)) {
        item.blob = *blob;
      } else {
        add_error(blob.error());
      }
      if (rows != nullptr && item.entry.manifest_row < rows->size()) {
        item.details = take_row(rows, item.entry, group);
      }
      summary.entries.push_back(std::move(item));
    }
    return {};
  }

  // A row belongs to one entry, so that the output for rows is no larger than the manifest.
  std::shared_ptr<const format::ManifestEntry>
  take_row(const Rows& rows, const format::EntryView& entry, const format::GroupView& group) {
    std::vector<bool>& taken = m_manifests[group.manifest_blob].taken;
    if (taken[entry.manifest_row]) {
      add_error({base::ErrorCode::manifest_invalid,
                 fmt::format("entry {}: another entry names row {} of its manifest", entry.index,
                             entry.manifest_row)});
      return nullptr;
    }
    taken[entry.manifest_row] = true;
    return {rows, &(*rows)[entry.manifest_row]};
  }

  struct KeptManifest {
    Rows rows;               // null: it cannot be read
    std::vector<bool> taken; // by row
  };

  std::filesystem::path m_path;
  BundleSummary m_summary;
  std::set<std::string, std::less<>> m_told;         // the messages of m_summary.errors
  std::map<std::uint32_t, KeptManifest> m_manifests; // by blob
  std::map<std::uint32_t, std::shared_ptr<const std::vector<SourceSummary>>> m_sources; // likewise
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
