#include "support/table_draft.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/manifest.hpp"
#include "model/device.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace clbin::test {
namespace {

using base::Bytes;
using base::ByteWriter;
using base::Digest;
using format::SectionKind;

constexpr int k_page_level = 1;
constexpr std::uint64_t k_string_head_bytes = 4;

// STRINGS, and the offset of each string in it.
class StringTable {
public:
  explicit StringTable(const TableDraft& draft) : m_draft(draft) {
    add("");
    for (const DraftProgram& program : draft.programs) {
      add(program.name);
      for (const DraftVariant& variant : program.variants) {
        add(variant.name);
        add(variant.options);
        for (const DraftEntry& entry : variant.entries) {
          add(entry.kernels);
          add(entry.options);
        }
      }
    }
    for (const DraftTarget& target : draft.targets) {
      add(target.platform_name);
      add(target.device_name);
      add(target.driver_version);
      add(target.spec);
    }
    std::uint64_t offset = 0;
    for (const auto& [text, name] : m_names) {
      m_offsets[*name] = static_cast<std::uint32_t>(offset);
      offset += k_string_head_bytes + text.size();
    }
  }

  [[nodiscard]] std::uint32_t at(const std::string& name) const { return m_offsets.at(name); }
  [[nodiscard]] std::size_t count() const { return m_offsets.size(); }
  void write(ByteWriter& writer) const {
    for (const auto& [text, name] : m_names) {
      writer.write_text(text);
    }
  }

private:
  void add(const std::string& name) {
    const auto [place, is_new] = m_offsets.emplace(name, 0);
    if (is_new) {
      m_names.emplace(m_draft.text(name), &place->first);
    }
  }

  const TableDraft& m_draft;
  std::map<std::string, std::uint32_t> m_offsets;         // by name
  std::map<std::string_view, const std::string*> m_names; // by text
};

// What a record refers to.
struct Numbers {
  const StringTable& strings;
  std::uint32_t target = 0;

  std::uint32_t operator()(const format::SharedText& name) const { return strings.at(name.str()); }
  std::uint32_t operator()(const format::SharedNames& name) const {
    return strings.at(name.front());
  }
  std::uint32_t operator()(const format::TargetView& /*target*/) const { return target; }
};

// The position of a variant in GROUP.
struct PlacedGroup {
  std::uint32_t program = 0;
  std::uint32_t variant = 0;
  std::uint64_t name_hash = 0;
};

std::vector<PlacedGroup> place_groups(const TableDraft& draft) {
  std::vector<PlacedGroup> groups;
  for (std::uint32_t p = 0; p < draft.programs.size(); ++p) {
    const DraftProgram& program = draft.programs[p];
    for (std::uint32_t v = 0; v < program.variants.size(); ++v) {
      groups.push_back(
          {p, v,
           format::name_hash(draft.text(program.name), draft.text(program.variants[v].name))});
    }
  }
  std::sort(groups.begin(), groups.end(), [&](const PlacedGroup& a, const PlacedGroup& b) {
    return std::tie(a.name_hash, a.program, a.variant) <
           std::tie(b.name_hash, b.program, b.variant);
  });
  return groups;
}

// Returns order[new] = old, and its inverse.
template <typename Less>
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> order_of(std::size_t count,
                                                                           const Less& less) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), less);
  std::vector<std::uint32_t> places(count);
  for (std::uint32_t place = 0; place < count; ++place) {
    places[order[place]] = place;
  }
  return {std::move(order), std::move(places)};
}

void sort_entries(TableDraft& draft) {
  for (DraftProgram& program : draft.programs) {
    for (DraftVariant& variant : program.variants) {
      std::sort(variant.entries.begin(), variant.entries.end(),
                [&](const DraftEntry& a, const DraftEntry& b) {
                  return std::tie(a.match_key, draft.targets[a.target].digest,
                                  draft.blobs[a.blob].raw_digest) <
                         std::tie(b.match_key, draft.targets[b.target].digest,
                                  draft.blobs[b.blob].raw_digest);
                });
    }
  }
}

// Returns the variants in the order of their names, which is the order of manifest rows.
std::vector<std::uint32_t> variants_by_name(const DraftProgram& program) {
  return order_of(program.variants.size(),
                  [&](std::uint32_t a, std::uint32_t b) {
                    return program.variants[a].name < program.variants[b].name;
                  })
      .first;
}

format::ManifestEntry row_of(const TableDraft& draft, const DraftVariant& variant,
                             const DraftEntry& entry) {
  format::ManifestEntry row;
  row.variant = draft.text(variant.name);
  row.target = draft.targets[entry.target].target;
  row.options = draft.text(entry.options);
  row.raw_digest = format::row_digest(draft.blobs[entry.blob].raw_digest);
  const std::string& kernels = draft.text(entry.kernels);
  for (std::size_t start = 0; start < kernels.size();) {
    const std::size_t end = std::min(kernels.find(';', start), kernels.size());
    row.kernels.emplace_back().name = kernels.substr(start, end - start);
    start = end + 1;
  }
  return row;
}

Bytes manifest_of(const TableDraft& draft, const DraftProgram& program) {
  if (program.manifest == ManifestOf::json) {
    return bytes_of(program.json);
  }
  format::Manifest manifest{"test", draft.text(program.name), {}};
  for (const std::uint32_t index : variants_by_name(program)) {
    for (const DraftEntry& entry : program.variants[index].entries) {
      manifest.entries.push_back(row_of(draft, program.variants[index], entry));
    }
  }
  return format::encode_manifest(manifest);
}

// Returns for each program the number of its manifest among the blobs.
std::vector<std::uint32_t> add_manifests(TableDraft& draft) {
  std::vector<std::uint32_t> blobs;
  for (const DraftProgram& program : draft.programs) {
    blobs.push_back(program.manifest == ManifestOf::nobody
                        ? format::k_no_index
                        : draft.add_compressed(manifest_of(draft, program)));
  }
  return blobs;
}

// Merges blobs with equal raw bytes.
void merge_equal_blobs(TableDraft& draft, std::vector<std::uint32_t>& places,
                       std::vector<std::uint32_t>& order) {
  std::tie(order, places) = order_of(draft.blobs.size(), [&](std::uint32_t a, std::uint32_t b) {
    return draft.blobs[a].raw_digest < draft.blobs[b].raw_digest;
  });
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t blob : order) {
    if (kept.empty() || draft.blobs[kept.back()].raw_digest != draft.blobs[blob].raw_digest) {
      kept.push_back(blob);
    }
    places[blob] = static_cast<std::uint32_t>(kept.size() - 1);
  }
  order = std::move(kept);
}

class TableWriter {
public:
  explicit TableWriter(TableDraft draft) : m_draft(std::move(draft)) {
    sort_entries(m_draft);
    m_manifests = add_manifests(m_draft);
    m_groups = place_groups(m_draft);
    std::tie(m_target_order, m_target_places) =
        order_of(m_draft.targets.size(), [&](std::uint32_t a, std::uint32_t b) {
          return m_draft.targets[a].digest < m_draft.targets[b].digest;
        });
    merge_equal_blobs(m_draft, m_blob_places, m_blob_order);
  }

  Bytes write() {
    const StringTable strings(m_draft);
    CraftedBundle bundle(must_write(sample_input()));
    write_groups(bundle, strings);
    write_targets(bundle, strings);
    write_blobs(bundle);
    ByteWriter texts;
    strings.write(texts);
    put(bundle, SectionKind::strings, std::move(texts));
    bundle.section(SectionKind::strings).record.count = static_cast<std::uint32_t>(strings.count());
    return bundle.build();
  }

private:
  static void put(CraftedBundle& bundle, SectionKind kind, ByteWriter writer) {
    bundle.section(kind).bytes = std::move(writer).take();
  }

  [[nodiscard]] std::uint32_t blob_place(std::uint32_t blob) const {
    return blob == format::k_no_index ? blob : m_blob_places[blob];
  }

  // Returns for each program the number of the first manifest row of each variant.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> first_rows() const {
    std::vector<std::vector<std::uint32_t>> rows;
    for (const DraftProgram& program : m_draft.programs) {
      std::vector<std::uint32_t>& of_program = rows.emplace_back(program.variants.size());
      std::uint32_t next = 0;
      for (const std::uint32_t variant : variants_by_name(program)) {
        of_program[variant] = next;
        next += static_cast<std::uint32_t>(program.variants[variant].entries.size());
      }
    }
    return rows;
  }

  void write_groups(CraftedBundle& bundle, const StringTable& strings) const {
    ByteWriter groups;
    ByteWriter entries;
    ByteWriter exacts;
    const auto rows = first_rows();
    std::uint32_t first_entry = 0;
    for (const PlacedGroup& group : m_groups) {
      const DraftProgram& program = m_draft.programs[group.program];
      const DraftVariant& variant = program.variants[group.variant];
      const auto count = static_cast<std::uint32_t>(variant.entries.size());
      write_record(groups,
                   format::GroupRecord{group.name_hash, program.name, variant.name, variant.options,
                                       first_entry, count, blob_place(program.source),
                                       blob_place(m_manifests[group.program])},
                   Numbers{strings});
      write_entries(entries, exacts, strings, variant, first_entry,
                    rows[group.program][group.variant]);
      first_entry += count;
    }
    put(bundle, SectionKind::group, std::move(groups));
    put(bundle, SectionKind::entry, std::move(entries));
    put(bundle, SectionKind::exact, std::move(exacts));
  }

  void write_entries(ByteWriter& entries, ByteWriter& exacts, const StringTable& strings,
                     const DraftVariant& variant, std::uint32_t first_entry,
                     std::uint32_t first_row) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
    for (std::uint32_t e = 0; e < variant.entries.size(); ++e) {
      const DraftEntry& entry = variant.entries[e];
      format::EntryRecord record;
      record.match_key = entry.match_key;
      record.blob = m_blob_places[entry.blob];
      record.kernels = {entry.kernels};
      record.options = entry.options;
      record.kind = static_cast<format::BinaryKind>(entry.match_key >> 56U);
      record.address_bits = 64;
      record.manifest_row = first_row + e;
      write_record(entries, record, Numbers{strings, m_target_places[entry.target]});
      keys.emplace_back(base::leading_u64(m_draft.targets[entry.target].digest), first_entry + e);
    }
    std::sort(keys.begin(), keys.end());
    for (const auto& [key, entry] : keys) {
      write_record(exacts, format::ExactRecord{key, entry});
    }
  }

  void write_targets(CraftedBundle& bundle, const StringTable& strings) const {
    ByteWriter targets;
    for (const std::uint32_t index : m_target_order) {
      const DraftTarget& target = m_draft.targets[index];
      format::TargetView record = view_of(target.target);
      record.digest = target.digest;
      record.platform_name = target.platform_name;
      record.device_name = target.device_name;
      record.driver_version = target.driver_version;
      record.spec = target.spec;
      write_record(targets, record, Numbers{strings});
    }
    put(bundle, SectionKind::target, std::move(targets));
  }

  // Writes each frame at the position of the first blob in the table that refers to it.
  void write_blobs(CraftedBundle& bundle) const {
    ByteWriter blobs;
    ByteWriter payload;
    std::vector<std::uint64_t> offsets(m_draft.frames.size(), ~std::uint64_t{0});
    for (const std::uint32_t index : m_blob_order) {
      const DraftBlob& blob = m_draft.blobs[index];
      const Bytes& frame = m_draft.frames[blob.frame];
      if (offsets[blob.frame] == ~std::uint64_t{0}) {
        offsets[blob.frame] = payload.size();
        payload.write_bytes(frame);
        payload.align(format::k_alignment);
      }
      format::BlobView record;
      record.raw_digest = blob.raw_digest;
      record.stored_digest = base::digest_of(frame);
      record.offset = offsets[blob.frame];
      record.stored_bytes = frame.size();
      record.raw_bytes = blob.raw_bytes;
      record.reference = blob_place(blob.reference);
      record.codec = static_cast<std::uint8_t>(blob.codec);
      write_record(blobs, record);
    }
    put(bundle, SectionKind::blob, std::move(blobs));
    put(bundle, SectionKind::payload, std::move(payload));
  }

  TableDraft m_draft;
  std::vector<std::uint32_t> m_manifests;
  std::vector<PlacedGroup> m_groups;
  std::vector<std::uint32_t> m_target_order;
  std::vector<std::uint32_t> m_target_places;
  std::vector<std::uint32_t> m_blob_order;
  std::vector<std::uint32_t> m_blob_places;
};

} // namespace

const std::string& TableDraft::text(const std::string& name) const {
  const auto found = long_texts.find(name);
  return found == long_texts.end() ? name : found->second;
}

std::uint32_t TableDraft::add_stored(Bytes raw) {
  const Digest digest = base::digest_of(raw);
  const std::uint64_t raw_bytes = raw.size();
  frames.push_back(std::move(raw));
  blobs.push_back({digest, static_cast<std::uint32_t>(frames.size() - 1), raw_bytes,
                   format::k_no_index, format::BlobCodec::stored});
  return static_cast<std::uint32_t>(blobs.size() - 1);
}

std::uint32_t TableDraft::add_compressed(base::ByteView raw) {
  Bytes frame = base::zstd_compress(raw, {}, k_page_level).value();
  if (frame.size() >= raw.size()) {
    return add_stored({raw.begin(), raw.end()});
  }
  frames.push_back(std::move(frame));
  blobs.push_back({base::digest_of(raw), static_cast<std::uint32_t>(frames.size() - 1), raw.size(),
                   format::k_no_index, format::BlobCodec::zstd});
  return static_cast<std::uint32_t>(blobs.size() - 1);
}

std::uint32_t TableDraft::add_target(format::Target target) {
  const format::DeviceIdentity& identity = target.identity;
  targets.push_back({target, format::target_digest(target), identity.platform_name,
                     identity.device_name, identity.driver_version, target.spec});
  return static_cast<std::uint32_t>(targets.size() - 1);
}

std::uint64_t ptx_match_key(unsigned architecture) {
  return format::match_key(format::classify_binary(sample_ptx(architecture, "")), {});
}

Bytes write_tables(TableDraft draft) {
  return TableWriter(std::move(draft)).write();
}

} // namespace clbin::test
