#include "bundles/bundle_change.hpp"

#include <array>
#include <set>
#include <tuple>

namespace oclcc {

using base::Bytes;
using format::BundleReader;
using format::EntryView;
using format::GroupView;

namespace {

// What no two entries of a bundle have in common: program, variant, target and kind.
using EntryPlace = std::tuple<std::string, std::string, base::Digest, format::BinaryKind>;

// The entries of a bundle by their indices.
Result<std::map<std::uint32_t, EntryPlace>> places_of(const BundleReader& bundle) {
  std::map<std::uint32_t, EntryPlace> places;
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const GroupView group, bundle.group(i));
    for (std::uint32_t k = 0; k < group.entry_count; ++k) {
      CLBIN_TRY_ASSIGN(const EntryView entry, bundle.entry(group.first_entry + k, group));
      places.emplace(entry.index,
                     EntryPlace{group.program, group.variant, entry.target.digest, entry.kind});
    }
  }
  return places;
}

// The entries of `bundle` that no entry of `newer` replaces, by their indices.
Result<std::set<std::uint32_t>> kept_entries(const BundleReader& bundle,
                                             const BundleReader& newer) {
  CLBIN_TRY_ASSIGN(const auto places, places_of(bundle));
  CLBIN_TRY_ASSIGN(const auto newer_places, places_of(newer));
  std::set<EntryPlace> replaced;
  for (const auto& [index, place] : newer_places) {
    replaced.insert(place);
  }
  std::set<std::uint32_t> kept;
  for (const auto& [index, place] : places) {
    if (!replaced.contains(place)) {
      kept.insert(index);
    }
  }
  return kept;
}

Result<BundleReader> open_bytes(const Bytes& bytes) {
  return BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
}

} // namespace

Result<Bytes> replace_entries(const BundleReader& bundle, const Bytes& newer, SourcePolicy source,
                              const format::Encryption* encryption) {
  CLBIN_TRY_ASSIGN(const BundleReader built, open_bytes(newer));
  CLBIN_TRY_ASSIGN(const auto kept, kept_entries(bundle, built));
  if (source == SourcePolicy::drop && kept.empty()) {
    const BundleReader* const only = &built;
    return encryption == nullptr ? Result<Bytes>(newer)
                                 : format::merge_bundles({&only, 1}, encryption);
  }
  const auto keep = [&kept](const EntryView& entry) { return kept.contains(entry.index); };
  CLBIN_TRY_ASSIGN(const format::StripResult rest,
                   format::strip_bundle(bundle, keep,
                                        source == SourcePolicy::keep ? format::KeepSource::yes
                                                                     : format::KeepSource::no));
  CLBIN_TRY_ASSIGN(const BundleReader old, open_bytes(rest.bytes));
  const std::array<const BundleReader*, 2> both = {&old, &built};
  return format::merge_bundles(both, encryption);
}

} // namespace oclcc
