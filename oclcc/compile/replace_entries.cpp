#include "compile/compile_job.hpp"
#include "format/bundle/bundle_surgery.hpp"

#include <tuple>

namespace oclcc {

using base::Bytes;
using format::BundleReader;
using format::EntryView;
using format::GroupView;

namespace {

// What no two entries of a bundle have in common: program, variant, target and kind.
using Place = std::tuple<std::string, std::string, base::Digest, format::BinaryKind>;

// The indices of the entries of a bundle, by place.
Result<std::multimap<Place, std::uint32_t>> entries_of(const BundleReader& bundle) {
  std::multimap<Place, std::uint32_t> entries;
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const GroupView group, bundle.group(i));
    for (std::uint32_t k = 0; k < group.entry_count; ++k) {
      CLBIN_TRY_ASSIGN(const EntryView entry, bundle.entry(group.first_entry + k, group));
      entries.emplace(Place{group.program, group.variant, entry.target.digest, entry.kind},
                      entry.index);
    }
  }
  return entries;
}

Result<BundleReader> open_bytes(const Bytes& bytes) {
  return BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
}

} // namespace

Result<Bytes> replace_entries(const BundleReader& bundle, const Bytes& newer, SourcePolicy source,
                              const format::Encryption* encryption) {
  CLBIN_TRY_ASSIGN(const BundleReader built, open_bytes(newer));
  CLBIN_TRY_ASSIGN(const auto entries, entries_of(bundle));
  CLBIN_TRY_ASSIGN(const auto newer_entries, entries_of(built));
  std::set<std::uint32_t> kept;
  for (const auto& [place, index] : entries) {
    if (!newer_entries.contains(place)) {
      kept.insert(index);
    }
  }
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
