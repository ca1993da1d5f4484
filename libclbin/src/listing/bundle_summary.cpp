#include "listing/bundle_summary.hpp"

#include <iterator>
#include <tuple>

namespace clbin::listing {

namespace {

using Sources = std::shared_ptr<const std::vector<SourceSummary>>;
using Rows = std::shared_ptr<const std::vector<format::ManifestEntry>>;

// A bundle with more is beyond repair.
constexpr std::size_t k_max_errors = 1000;
// What the JSON contains of a kernel of which only the name is known.
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

// The longest name of a capability, with its quotes.
constexpr std::uint64_t k_shown_capability_bytes = 40;

// What a group and an entry take besides their texts.
constexpr std::uint64_t k_group_bytes = 2 * sizeof(GroupSummary);
constexpr std::uint64_t k_entry_bytes = 2 * sizeof(EntrySummary);

SourceSummary summary_of(const format::SourceFile& file) {
  return {file.include_name, file.display_name, file.text.size(),
          base::digest_of(base::as_bytes(file.text))};
}

class Summarizer {
public:
  Summarizer(const format::BundleReader& reader, ErrorList& errors)
      : m_reader(reader), m_errors(errors), m_memory(reader.budget()),
        m_texts(reader.total_bytes()), m_is_locked(reader.is_locked()) {}

  std::vector<GroupSummary> run() {
    for (std::uint32_t i = 0; i < m_reader.group_count(); ++i) {
      const auto group = m_reader.group(i);
      if (!group) {
        m_errors.add(group.error());
        continue;
      }
      if (const auto added = add_group(*group); !added) {
        m_errors.add(added.error());
        break; // the others are not shown
      }
    }
    // The table is sorted by hash.
    std::ranges::sort(m_groups, {}, [](const GroupSummary& summary) {
      return std::tie(summary.group.program.str(), summary.group.variant.str());
    });
    return std::move(m_groups);
  }

private:
  base::Result<void> add_group(const format::GroupView& group) {
    CLBIN_TRY(m_memory.take_memory(k_group_bytes, "listing"));
    GroupSummary summary{group, sources_of(group), {}, {}, {}};
    CLBIN_TRY(m_texts.take(group));
    for (const SourceSummary& source : *summary.sources) {
      CLBIN_TRY(m_texts.take(sizeof source + source.name.size() + source.display_name.size()));
    }
    CLBIN_TRY(add_entries(summary));
    take_recorded(summary);
    m_groups.push_back(std::move(summary));
    return {};
  }

  // Returns the source, which the variants of a program share; empty if it cannot be read.
  Sources sources_of(const format::GroupView& group) {
    Sources& known = m_sources[group.source_blob];
    if (known == nullptr) {
      const bool is_readable = group.source_blob != format::k_no_index && !m_is_locked;
      known = std::make_shared<const std::vector<SourceSummary>>(
          is_readable ? read_sources(group) : std::vector<SourceSummary>());
    }
    return known;
  }

  std::vector<SourceSummary> read_sources(const format::GroupView& group) {
    std::vector<SourceSummary> sources;
    const std::uint64_t left = m_memory.memory_left();
    if (const auto package = m_reader.read_source(group, &m_memory)) {
      sources.push_back(summary_of(package->main));
      std::ranges::transform(package->headers, std::back_inserter(sources), summary_of);
    } else {
      m_errors.add(package.error());
    }
    m_memory.return_memory(left - m_memory.memory_left()); // m_texts limits the names
    return sources;
  }

  // Returns the manifest, which the variants of a program share. Null if it cannot be read.
  base::Result<Rows> rows_of(const format::GroupView& group) {
    if (m_is_locked) {
      return nullptr;
    }
    const auto known = m_manifests.find(group.manifest_blob);
    if (known != m_manifests.end()) {
      return known->second.rows;
    }
    if (const auto blob = m_reader.blob(group.manifest_blob)) {
      CLBIN_TRY(m_texts.take(blob->raw_bytes / 2)); // names of members are not kept
    }
    auto manifest = m_reader.read_manifest(group, &m_memory);
    if (!manifest) {
      m_errors.add(manifest.error());
    }
    KeptManifest& kept = m_manifests[group.manifest_blob];
    if (manifest) {
      kept.taken.resize(manifest->entries.size());
      kept.rows =
          std::make_shared<const std::vector<format::ManifestEntry>>(std::move(manifest->entries));
      kept.launches = std::move(manifest->launches);
      kept.builds = std::move(manifest->builds);
      kept.measurements = std::move(manifest->measurements);
      kept.answers = std::move(manifest->answers);
    }
    return kept.rows;
  }

  base::Result<void> add_entries(GroupSummary& summary) {
    const format::GroupView& group = summary.group;
    CLBIN_TRY_ASSIGN(const Rows rows, rows_of(group));
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      auto entry = m_reader.entry(group.first_entry + i, group);
      if (!entry) {
        m_errors.add(entry.error());
        continue;
      }
      CLBIN_TRY(m_memory.take_memory(k_entry_bytes, "listing"));
      CLBIN_TRY(m_texts.take(*entry));
      if (rows == nullptr) { // each is shown without the bytes of a manifest to pay for it
        CLBIN_TRY(m_texts.take(k_shown_kernel_bytes * entry->kernels.size()));
      }
      EntrySummary item{std::move(*entry), std::nullopt, nullptr};
      if (const auto blob = m_reader.blob(item.entry.blob)) {
        item.blob = *blob;
      } else {
        m_errors.add(blob.error());
      }
      if (rows != nullptr && item.entry.manifest_row < rows->size()) {
        item.details = take_row(rows, item.entry, group);
      }
      CLBIN_TRY(add_features(item));
      summary.entries.push_back(std::move(item));
    }
    return {};
  }

  // Errors of the payload are those of verifying.
  base::Result<void> add_features(EntrySummary& item) {
    if (item.entry.kind != format::BinaryKind::spirv || m_is_locked) {
      return {};
    }
    const std::uint64_t left = m_memory.memory_left();
    const auto module = m_reader.read_blob(item.entry.blob, &m_memory);
    m_memory.return_memory(left - m_memory.memory_left());
    auto features = module ? format::read_spirv_features(*module)
                           : base::Result<format::SpirvFeatures>(tl::unexpected(module.error()));
    if (!features) {
      return {};
    }
    std::uint64_t bytes = features->capabilities.size() * k_shown_capability_bytes;
    for (const auto& texts : {features->extensions, features->instruction_sets}) {
      for (const std::string& text : texts) {
        bytes += sizeof(std::string) + text.size();
      }
    }
    CLBIN_TRY(m_texts.take(bytes));
    item.spirv = *std::move(features);
    return {};
  }

  // Moves those of the variant, so that a damaged bundle with equal groups shows them once.
  void take_recorded(GroupSummary& summary) {
    KeptManifest& kept = m_manifests[summary.group.manifest_blob];
    const auto take = [&](auto& from, auto& to) {
      const auto others = std::stable_partition(from.begin(), from.end(), [&](const auto& item) {
        return item.variant != summary.group.variant.str();
      });
      to.assign(std::make_move_iterator(others), std::make_move_iterator(from.end()));
      from.erase(others, from.end());
    };
    take(kept.launches, summary.launches);
    take(kept.builds, summary.builds);
    take(kept.measurements, summary.measurements);
    take(kept.answers, summary.answers);
    std::ranges::sort(summary.launches);
    std::ranges::sort(summary.measurements);
    std::ranges::sort(summary.answers);
  }

  // A row belongs to one entry, so that the output for rows is no larger than the manifest.
  std::shared_ptr<const format::ManifestEntry>
  take_row(const Rows& rows, const format::EntryView& entry, const format::GroupView& group) {
    std::vector<bool>& taken = m_manifests[group.manifest_blob].taken;
    if (taken[entry.manifest_row]) {
      m_errors.add({base::ErrorCode::manifest_invalid,
                    fmt::format("entry {}: another entry names row {} of its manifest", entry.index,
                                entry.manifest_row)});
      return nullptr;
    }
    taken[entry.manifest_row] = true;
    return {rows, &(*rows)[entry.manifest_row]};
  }

  struct KeptManifest {
    Rows rows;                                    // null: it cannot be read
    std::vector<bool> taken;                      // by row
    std::vector<format::RecordedLaunch> launches; // those not taken yet, as of the others
    std::vector<format::RecordedBuild> builds;
    std::vector<format::Measurement> measurements;
    std::vector<format::KnownAnswer> answers;
  };

  const format::BundleReader& m_reader;
  ErrorList& m_errors;
  format::ReadBudget m_memory; // what all of this call keeps
  format::TextBudget m_texts;  // what is shown
  bool m_is_locked;            // manifests and sources cannot be read
  std::vector<GroupSummary> m_groups;
  std::map<std::uint32_t, KeptManifest> m_manifests; // by blob
  std::map<std::uint32_t, Sources> m_sources;        // likewise
};

std::string argument_text(const format::KernelArgument& argument) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) {
      text += (text.empty() ? "" : " ") + std::string(word);
    }
  };
  if (argument.address_space != format::AddressSpace::private_) {
    add(name_of(argument.address_space));
  }
  add(argument.access == format::AccessQualifier::none ? "" : name_of(argument.access));
  add(argument.is_pipe ? "pipe" : "");
  add(argument.is_const ? "const" : "");
  add(argument.is_volatile ? "volatile" : "");
  add(argument.type_name);
  add(argument.is_restrict ? "restrict" : "");
  add(argument.name);
  return text;
}

} // namespace

void ErrorList::add(const base::Error& error) {
  std::string message = shortened(named_error(error, m_bundle).message);
  if (m_errors.size() > k_max_errors ||
      !m_known.insert(base::digest_of(base::as_bytes(message))).second) {
    return;
  }
  if (m_errors.size() == k_max_errors) {
    message =
        fmt::format("{}: more than {} errors: the others are not listed", m_bundle, k_max_errors);
  }
  m_errors.push_back({error.code, std::move(message)});
}

base::Error named_error(base::Error error, std::string_view bundle) {
  const bool is_named = error.message.starts_with(fmt::format("{}: ", bundle)) ||
                        error.message.find(fmt::format("'{}'", bundle)) != std::string::npos;
  if (!is_named) {
    error.message = fmt::format("{}: {}", bundle, error.message);
  }
  return error;
}

BundleSummary summarize(const format::BundleReader& reader, ErrorList errors) {
  // The tables may be valid although a payload is not. First, because it needs as much memory as
  // the rest.
  const auto verified = errors.list().empty() ? reader.verify() : base::Result<void>();
  BundleSummary summary;
  summary.file = errors.bundle();
  summary.head = reader.prefix();
  summary.entry_count = reader.entry_count();
  summary.groups = Summarizer(reader, errors).run();
  if (auto records = reader.signature_records()) {
    summary.signatures = std::move(*records);
  } else {
    errors.add(records.error());
  }
  summary.is_locked = reader.is_locked();
  if (auto slots = reader.key_slots()) {
    summary.key_slots = std::move(*slots);
  } else {
    errors.add(slots.error());
  }
  if (auto packs = reader.packs()) {
    for (const format::PackRecord& pack : *packs) {
      summary.packs.try_emplace(pack.name.str(), pack.root);
    }
  } else {
    errors.add(packs.error());
  }
  const bool is_valid = verified.has_value() ||
                        (reader.is_locked() && verified.error().code == base::ErrorCode::encrypted);
  if (errors.list().empty() && !is_valid) {
    errors.add(verified.error());
  }
  summary.errors = errors.list();
  return summary;
}

std::string kernel_signature(const format::KernelReflection& kernel) {
  if (!kernel.arguments) {
    return kernel.argument_count
               ? fmt::format("{}({} arguments)", kernel.name, *kernel.argument_count)
               : kernel.name + "(...)";
  }
  std::string arguments;
  for (const format::KernelArgument& argument : *kernel.arguments) {
    arguments += (arguments.empty() ? "" : ", ") + argument_text(argument);
  }
  return fmt::format("{}({})", kernel.name, arguments);
}

} // namespace clbin::listing
