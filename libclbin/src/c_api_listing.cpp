#include "c_api.hpp"

#include "format/bundle/bundle_verify.hpp"

#include <algorithm>
#include <map>
#include <tuple>

using namespace clbin;
using base::Result;

namespace {

struct ListedEntry {
  format::EntryView view;
  std::string format_text;
  std::string raw_digest;
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  const format::ManifestEntry* row = nullptr; // null if there is no manifest to read
};

struct ListedGroup {
  format::GroupView view;
  std::vector<ListedEntry> entries;
};

// The variants of a program share one manifest, which is read once.
struct ListedManifest {
  format::Manifest manifest;
  std::optional<format::ManifestCheck> check;
};

} // namespace

struct clbin_listing {
  std::map<std::uint32_t, ListedManifest> manifests; // keyed by blob
  std::vector<ListedGroup> groups;
};

namespace {

constexpr std::uint64_t k_listed_entry_bytes = 2 * sizeof(ListedEntry) + 128; // including its texts
constexpr std::uint64_t k_listed_group_bytes = 2 * sizeof(ListedGroup);

class Lister {
public:
  Lister(const format::BundleReader& reader, clbin_listing& listing)
      : m_reader(reader), m_listing(listing), m_budget(reader.budget()) {}

  Result<void> run() {
    for (std::uint32_t index = 0; index < m_reader.group_count(); ++index) {
      CLBIN_TRY(m_budget.take_memory(k_listed_group_bytes, "listing"));
      CLBIN_TRY_ASSIGN(format::GroupView view, m_reader.group(index));
      CLBIN_TRY_ASSIGN(const format::Manifest* const manifest, manifest_of(view));
      CLBIN_TRY(add_group(std::move(view), manifest));
    }
    std::sort(m_listing.groups.begin(), m_listing.groups.end(),
              [](const ListedGroup& a, const ListedGroup& b) {
                return std::tie(a.view.program.str(), a.view.variant.str()) <
                       std::tie(b.view.program.str(), b.view.variant.str());
              });
    return {};
  }

private:
  // Returns the manifest after checking it against the table; null if the bundle has none, or is
  // encrypted and was opened without a key.
  Result<const format::Manifest*> manifest_of(const format::GroupView& view) {
    if (view.manifest_blob == format::k_no_index || m_reader.is_locked()) {
      return nullptr;
    }
    const auto [place, is_new] = m_listing.manifests.try_emplace(view.manifest_blob);
    ListedManifest& listed = place->second;
    if (is_new) {
      CLBIN_TRY_ASSIGN(listed.manifest, m_reader.decode_manifest_of(view, m_budget));
      listed.check.emplace(m_reader, listed.manifest);
    }
    CLBIN_TRY(listed.check->check(view));
    return &listed.manifest;
  }

  Result<void> add_group(format::GroupView view, const format::Manifest* manifest) {
    ListedGroup group;
    for (std::uint32_t offset = 0; offset < view.entry_count; ++offset) {
      CLBIN_TRY(m_budget.take_memory(k_listed_entry_bytes, "listing"));
      ListedEntry entry;
      CLBIN_TRY_ASSIGN(entry.view, m_reader.entry(view.first_entry + offset, view));
      CLBIN_TRY_ASSIGN(const format::BlobView blob, m_reader.blob(entry.view.blob));
      entry.format_text = format::describe(entry.view);
      entry.raw_digest = base::to_hex(blob.raw_digest);
      entry.raw_bytes = blob.raw_bytes;
      entry.stored_bytes = blob.stored_bytes;
      // manifest_of() has compared the row with the entry.
      entry.row = manifest == nullptr ? nullptr : &manifest->entries[entry.view.manifest_row];
      group.entries.push_back(std::move(entry));
    }
    group.view = std::move(view);
    m_listing.groups.push_back(std::move(group));
    return {};
  }

  const format::BundleReader& m_reader;
  clbin_listing& m_listing;
  format::ReadBudget m_budget;
};

const ListedGroup* find_group(const clbin_listing* listing, std::size_t group) {
  return listing != nullptr && group < listing->groups.size() ? &listing->groups[group] : nullptr;
}

const ListedEntry* find_entry(const clbin_listing* listing, std::size_t group, std::size_t entry) {
  const ListedGroup* const found = find_group(listing, group);
  return found != nullptr && entry < found->entries.size() ? &found->entries[entry] : nullptr;
}

const format::KernelReflection* find_kernel(const clbin_listing* listing, std::size_t group,
                                            std::size_t entry, std::size_t kernel) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found != nullptr && found->row != nullptr && kernel < found->row->kernels.size()
             ? &found->row->kernels[kernel]
             : nullptr;
}

const format::KernelArgument* find_argument(const clbin_listing* listing, std::size_t group,
                                            std::size_t entry, std::size_t kernel,
                                            std::size_t argument) {
  const format::KernelReflection* const found = find_kernel(listing, group, entry, kernel);
  if (found == nullptr || !found->arguments.has_value() || argument >= found->arguments->size()) {
    return nullptr;
  }
  return &found->arguments->at(argument);
}

} // namespace

clbin_status clbin_list(const clbin_bundle* bundle, clbin_listing** listing, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(listing, "listing"));
    *listing = nullptr;
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    auto created = std::make_unique<clbin_listing>();
    CLBIN_TRY(Lister(bundle->reader, *created).run());
    for (auto& [blob, manifest] : created->manifests) {
      manifest.check.reset(); // it borrows the bundle
    }
    *listing = created.release();
    return {};
  });
}

void clbin_listing_free(clbin_listing* listing) {
  delete listing;
}

size_t clbin_listing_group_count(const clbin_listing* listing) {
  return listing == nullptr ? 0 : listing->groups.size();
}

const char* clbin_listing_program(const clbin_listing* listing, size_t group) {
  const ListedGroup* const found = find_group(listing, group);
  return found == nullptr ? nullptr : found->view.program.c_str();
}

const char* clbin_listing_variant(const clbin_listing* listing, size_t group) {
  const ListedGroup* const found = find_group(listing, group);
  return found == nullptr ? nullptr : found->view.variant.c_str();
}

const char* clbin_listing_group_options(const clbin_listing* listing, size_t group) {
  const ListedGroup* const found = find_group(listing, group);
  return found == nullptr ? nullptr : found->view.options.c_str();
}

int clbin_listing_has_source(const clbin_listing* listing, size_t group) {
  const ListedGroup* const found = find_group(listing, group);
  return found != nullptr && found->view.source_blob != format::k_no_index ? 1 : 0;
}

size_t clbin_listing_entry_count(const clbin_listing* listing, size_t group) {
  const ListedGroup* const found = find_group(listing, group);
  return found == nullptr ? 0 : found->entries.size();
}

const char* clbin_listing_entry_text(const clbin_listing* listing, size_t group, size_t entry,
                                     clbin_entry_text what) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  if (found == nullptr) {
    return nullptr;
  }
  switch (what) {
  case CLBIN_ENTRY_PLATFORM:
    return found->view.target.platform_name.c_str();
  case CLBIN_ENTRY_DEVICE:
    return found->view.target.device_name.c_str();
  case CLBIN_ENTRY_DRIVER_VERSION:
    return found->view.target.driver_version.c_str();
  case CLBIN_ENTRY_TARGET_SPEC:
    return found->view.target.spec.c_str();
  case CLBIN_ENTRY_FORMAT:
    return found->format_text.c_str();
  case CLBIN_ENTRY_OPTIONS:
    return found->view.options.c_str();
  case CLBIN_ENTRY_RAW_DIGEST:
    return found->raw_digest.c_str();
  }
  return nullptr;
}

uint64_t clbin_listing_entry_raw_bytes(const clbin_listing* listing, size_t group, size_t entry) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found == nullptr ? 0 : found->raw_bytes;
}

uint64_t clbin_listing_entry_stored_bytes(const clbin_listing* listing, size_t group,
                                          size_t entry) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found == nullptr ? 0 : found->stored_bytes;
}

size_t clbin_listing_kernel_count(const clbin_listing* listing, size_t group, size_t entry) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found == nullptr ? 0 : found->view.kernels.size();
}

const char* clbin_listing_kernel_name(const clbin_listing* listing, size_t group, size_t entry,
                                      size_t kernel) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found != nullptr && kernel < found->view.kernels.size()
             ? found->view.kernels[kernel].c_str()
             : nullptr;
}

int32_t clbin_listing_kernel_argument_count(const clbin_listing* listing, size_t group,
                                            size_t entry, size_t kernel) {
  const format::KernelReflection* const found = find_kernel(listing, group, entry, kernel);
  if (found == nullptr || found->argument_count.value_or(INT32_MAX) >= INT32_MAX) {
    return -1;
  }
  return static_cast<int32_t>(*found->argument_count);
}

const char* clbin_listing_argument_name(const clbin_listing* listing, size_t group, size_t entry,
                                        size_t kernel, size_t argument) {
  const format::KernelArgument* const found =
      find_argument(listing, group, entry, kernel, argument);
  return found == nullptr ? nullptr : found->name.c_str();
}

const char* clbin_listing_argument_type(const clbin_listing* listing, size_t group, size_t entry,
                                        size_t kernel, size_t argument) {
  const format::KernelArgument* const found =
      find_argument(listing, group, entry, kernel, argument);
  return found == nullptr ? nullptr : found->type_name.c_str();
}

void clbin_listing_required_work_group_size(const clbin_listing* listing, size_t group,
                                            size_t entry, size_t kernel, uint64_t size[3]) {
  if (size == nullptr) {
    return;
  }
  const format::KernelReflection* const found = find_kernel(listing, group, entry, kernel);
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    size[dimension] = found == nullptr ? 0 : found->required_work_group_size[dimension];
  }
}
