#include "c_api.hpp"

#include "base/text.hpp"
#include "listing/bundle_summary.hpp"

#include <fmt/format.h>
#include <tuple>

using namespace clbin;
using base::Result;

namespace {

struct ListedEntry {
  format::EntryView view;
  std::string format_text;
  std::string raw_digest;
  format::SharedText extensions; // between spaces
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  const format::ManifestEntry* row = nullptr; // null if there is no manifest to read
};

struct ListedGroup {
  format::GroupView view;
  std::string required; // extensions, between spaces
  std::vector<ListedEntry> entries;
};

} // namespace

struct clbin_listing {
  std::map<std::uint32_t, format::Manifest>
      manifests; // by blob: the variants of a program share one
  std::vector<ListedGroup> groups;
};

namespace {

constexpr std::uint64_t k_listed_entry_bytes = 2 * sizeof(ListedEntry) + 128; // including its texts
constexpr std::uint64_t k_listed_group_bytes = 2 * sizeof(ListedGroup);

// The extensions that entries request, by the identity of their options, which many may share.
using ListedExtensions = std::map<const void*, format::SharedText>;

Result<format::SharedText> extensions_of(const format::SharedText& options,
                                         ListedExtensions& listed, format::ReadBudget& budget) {
  const auto place = listed.try_emplace(options.identity());
  if (place.second) {
    CLBIN_TRY(budget.take_memory(options.size(), "listing"));
    const std::vector<std::string> names = base::requested_extensions(options.str());
    place.first->second = fmt::format("{}", fmt::join(names, " "));
  }
  return place.first->second;
}

// `manifest` is null if the bundle has none, or is encrypted and was opened without a key.
Result<ListedGroup> list_group(const format::BundleReader& reader, format::GroupView view,
                               const format::Manifest* manifest, format::ReadBudget& budget) {
  ListedGroup group;
  ListedExtensions extensions;
  for (std::uint32_t offset = 0; offset < view.entry_count; ++offset) {
    CLBIN_TRY(budget.take_memory(k_listed_entry_bytes, "listing"));
    ListedEntry entry;
    CLBIN_TRY_ASSIGN(entry.view, reader.entry(view.first_entry + offset, view));
    CLBIN_TRY_ASSIGN(const format::BlobView blob, reader.blob(entry.view.blob));
    entry.format_text = format::describe(entry.view);
    entry.raw_digest = base::to_hex(blob.raw_digest);
    CLBIN_TRY_ASSIGN(entry.extensions, extensions_of(entry.view.options, extensions, budget));
    entry.raw_bytes = blob.raw_bytes;
    entry.stored_bytes = blob.stored_bytes;
    entry.row = manifest == nullptr ? nullptr : &manifest->entries[entry.view.manifest_row];
    group.entries.push_back(std::move(entry));
  }
  group.required = fmt::format("{}", fmt::join(view.required, " "));
  group.view = std::move(view);
  return group;
}

using ManifestChecks = std::map<std::uint32_t, format::ManifestCheck>; // by blob

// Returns null if the group has no manifest that can be read without a key.
Result<const format::Manifest*> manifest_of(const format::BundleReader& reader,
                                            const format::GroupView& view, clbin_listing& listing,
                                            ManifestChecks& checks, format::ReadBudget& budget) {
  if (view.manifest_blob == format::k_no_index || reader.is_locked()) {
    return nullptr;
  }
  const auto [place, is_new] = listing.manifests.try_emplace(view.manifest_blob);
  if (is_new) {
    CLBIN_TRY_ASSIGN(place->second, reader.decode_manifest_of(view, budget));
    checks.try_emplace(view.manifest_blob, reader, place->second);
  }
  CLBIN_TRY(checks.at(view.manifest_blob).check(view)); // compares rows with entries
  return &place->second;
}

Result<std::unique_ptr<clbin_listing>> list(const format::BundleReader& reader) {
  auto listing = std::make_unique<clbin_listing>();
  format::ReadBudget budget = reader.budget();
  ManifestChecks checks;
  for (std::uint32_t index = 0; index < reader.group_count(); ++index) {
    CLBIN_TRY(budget.take_memory(k_listed_group_bytes, "listing"));
    CLBIN_TRY_ASSIGN(format::GroupView view, reader.group(index));
    CLBIN_TRY_ASSIGN(const format::Manifest* const manifest,
                     manifest_of(reader, view, *listing, checks, budget));
    CLBIN_TRY_ASSIGN(ListedGroup group, list_group(reader, std::move(view), manifest, budget));
    listing->groups.push_back(std::move(group));
  }
  std::ranges::sort(listing->groups, {}, [](const ListedGroup& group) {
    return std::tie(group.view.program.str(), group.view.variant.str());
  });
  return listing;
}

const ListedGroup* find_group(const clbin_listing* listing, std::size_t group) {
  return listing != nullptr && group < listing->groups.size() ? &listing->groups[group] : nullptr;
}

const ListedEntry* find_entry(const clbin_listing* listing, std::size_t group, std::size_t entry) {
  const ListedGroup* const found = find_group(listing, group);
  return found != nullptr && entry < found->entries.size() ? &found->entries[entry] : nullptr;
}

bool has_kernel(const ListedEntry* entry, std::size_t kernel) {
  return entry != nullptr && kernel < entry->view.kernels.size();
}

// Returns null if it is unknown. `entry` has the kernel.
const format::KernelReflection* find_reflection(const ListedEntry& entry, std::size_t kernel) {
  return entry.row != nullptr && kernel < entry.row->kernels.size() ? &entry.row->kernels[kernel]
                                                                    : nullptr;
}

clbin_group view_of(const ListedGroup& group) {
  clbin_group view{};
  view.program = group.view.program.c_str();
  view.variant = group.view.variant.c_str();
  view.options = group.view.options.c_str();
  view.entry_count = group.entries.size();
  view.has_source = group.view.source_blob == format::k_no_index ? 0 : 1;
  view.required = group.required.c_str();
  return view;
}

clbin_entry view_of(const ListedEntry& entry) {
  clbin_entry view{};
  view.platform = entry.view.target.platform_name.c_str();
  view.device = entry.view.target.device_name.c_str();
  view.driver_version = entry.view.target.driver_version.c_str();
  view.target_spec = entry.view.target.spec.c_str();
  view.format = entry.format_text.c_str();
  view.options = entry.view.options.c_str();
  view.raw_digest = entry.raw_digest.c_str();
  view.raw_bytes = entry.raw_bytes;
  view.stored_bytes = entry.stored_bytes;
  view.kernel_count = entry.view.kernels.size();
  view.extensions = entry.extensions.c_str();
  return view;
}

// `entry` has the kernel.
clbin_kernel kernel_view_of(const ListedEntry& entry, std::size_t kernel) {
  clbin_kernel view{};
  view.name = entry.view.kernels[kernel].c_str();
  view.argument_count = -1;
  const format::KernelReflection* const found = find_reflection(entry, kernel);
  if (found == nullptr) {
    return view;
  }
  std::copy_n(found->required_work_group_size.begin(), 3, view.required_work_group_size);
  if (found->argument_count.value_or(INT32_MAX) < INT32_MAX) {
    view.argument_count = static_cast<std::int32_t>(*found->argument_count);
  }
  return view;
}

} // namespace

clbin_status clbin_list(const clbin_bundle* bundle, clbin_listing** listing, clbin_error** error) {
  using Listed = Result<std::unique_ptr<clbin_listing>>;
  return c_api::guarded_make(error, listing, "listing", [&]() -> Listed {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    return list(bundle->reader);
  });
}

void clbin_listing_free(clbin_listing* listing) {
  delete listing;
}

size_t clbin_listing_group_count(const clbin_listing* listing) {
  return listing == nullptr ? 0 : listing->groups.size();
}

clbin_status clbin_listing_group(const clbin_listing* listing, size_t group, clbin_group* filled) {
  const ListedGroup* const found = find_group(listing, group);
  return found == nullptr ? CLBIN_ERROR_INVALID_ARGUMENT : c_api::fill(filled, view_of(*found));
}

clbin_status clbin_listing_entry(const clbin_listing* listing, size_t group, size_t entry,
                                 clbin_entry* filled) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return found == nullptr ? CLBIN_ERROR_INVALID_ARGUMENT : c_api::fill(filled, view_of(*found));
}

clbin_status clbin_listing_kernel(const clbin_listing* listing, size_t group, size_t entry,
                                  size_t kernel, clbin_kernel* filled) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  return has_kernel(found, kernel) ? c_api::fill(filled, kernel_view_of(*found, kernel))
                                   : CLBIN_ERROR_INVALID_ARGUMENT;
}

clbin_status clbin_listing_argument(const clbin_listing* listing, size_t group, size_t entry,
                                    size_t kernel, size_t argument, clbin_argument* filled) {
  const ListedEntry* const found = find_entry(listing, group, entry);
  const format::KernelReflection* const reflection =
      has_kernel(found, kernel) ? find_reflection(*found, kernel) : nullptr;
  if (reflection == nullptr || argument >= reflection->argument_count.value_or(0)) {
    return CLBIN_ERROR_INVALID_ARGUMENT;
  }
  clbin_argument view{};
  if (reflection->arguments.has_value() && argument < reflection->arguments->size()) {
    view.name = reflection->arguments->at(argument).name.c_str();
    view.type = reflection->arguments->at(argument).type_name.c_str();
  }
  return c_api::fill(filled, view);
}

clbin_status clbin_list_json(const clbin_bundle* bundle, clbin_write_function write,
                             void* user_data, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    CLBIN_TRY(c_api::require(reinterpret_cast<const void*>(write), "write"));
    listing::BundlesJson document(
        [&](std::string_view part) { return write(part.data(), part.size(), user_data) == 0; });
    const listing::BundleSummary summary =
        listing::summarize(bundle->reader, listing::ErrorList(bundle->reader.name()));
    document.add(summary);
    if (!document.finish()) {
      return base::fail(base::ErrorCode::file_write, "{}: 'write' did not accept its listing",
                        bundle->reader.name());
    }
    if (!summary.errors.empty()) {
      return tl::unexpected(summary.errors.front());
    }
    return {};
  });
}
