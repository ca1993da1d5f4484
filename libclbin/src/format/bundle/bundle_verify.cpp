// Checks every rule of clbin(5) on every byte; implements BundleReader::verify, ManifestCheck
// and ProvedBlobs.
#include "format/bundle/bundle_reader.hpp"

#include "base/json_document.hpp"

#include <numeric>
#include <tuple>

namespace clbin::format {

namespace {

std::string row_difference(const EntryView& entry, const BlobView& blob, const ManifestEntry& row,
                           const std::string& variant) {
  if (row.variant != variant) {
    return fmt::format("its variant is '{}', the table has '{}'", told(row.variant), told(variant));
  }
  if (row.raw_digest != row_digest(blob.raw_digest)) {
    return fmt::format("its raw digest is {}, the table has {}", row.raw_digest,
                       row_digest(blob.raw_digest));
  }
  if (row.target.origin != entry.target.origin ||
      target_digest(row.target) != entry.target.digest) {
    return "its target is not that of the table";
  }
  if (entry.options != row.options) {
    return fmt::format("its options are '{}', the table has '{}'", told(row.options),
                       told(entry.options));
  }
  const bool same_kernels = std::equal(
      row.kernels.begin(), row.kernels.end(), entry.kernels.begin(), entry.kernels.end(),
      [](const KernelReflection& kernel, const std::string& name) { return kernel.name == name; });
  return same_kernels ? "" : "its kernels are not those of the table";
}

// Returns the value of a field for messages.
std::string shown(const SharedText& text) {
  return fmt::format("'{}'", base::printable_excerpt(text));
}
std::string shown(Number auto number) {
  return std::to_string(static_cast<std::uint64_t>(number));
}
std::string shown(const Digest& digest) {
  return base::to_hex(digest);
}

// The last key of a table whose keys must ascend.
template <typename Key>
class Ascending {
public:
  // Error: damaged, unless `key` is above the last one. `subject` is what is out of order.
  Result<void> next(Key key, std::string_view origin, std::string_view subject) {
    if (m_last && !(*m_last < key)) {
      return damaged(origin, "{} is out of order", subject);
    }
    m_last = std::move(key);
    return {};
  }

private:
  std::optional<Key> m_last;
};

class Verifier {
public:
  Verifier(const BundleReader& reader, const TablePages& tables)
      : m_reader(reader), m_tables(tables), m_budget(reader.budget()) {}

  Result<void> run() {
    CLBIN_TRY(check_sections());
    CLBIN_TRY(m_reader.key_slots());
    CLBIN_TRY(check_strings());
    CLBIN_TRY(check_targets());
    CLBIN_TRY(check_blobs());
    CLBIN_TRY(m_reader.is_locked() ? check_stored_bytes() : check_raw_bytes());
    CLBIN_TRY(check_groups());
    CLBIN_TRY(check_requirements());
    CLBIN_TRY(check_rankings());
    CLBIN_TRY(check_packs());
    if (m_reader.is_locked()) {
      return fail(ErrorCode::encrypted, "its contents are encrypted, and no key was given");
    }
    return check_programs();
  }

private:
  Result<void> check_sections() const {
    for (const SectionLayout& section : m_tables.directory().sections()) {
      for (std::uint32_t page = 0; page < section.page_count; ++page) {
        CLBIN_TRY(m_tables.page(section, page));
      }
      const SectionRecord& record = section.record;
      CLBIN_TRY(check_padding(m_tables.source(), record.offset + record.bytes,
                              padding_after(record.bytes),
                              fmt::format("the end of {}", to_string(record.kind))));
    }
    return {};
  }

  Result<void> check_strings() {
    constexpr std::uint64_t k_head_bytes = 4;
    const std::uint64_t end = m_tables.section_bytes(SectionKind::strings);
    std::optional<std::string> last;
    for (std::uint64_t offset = 0; offset < end;) {
      const std::string origin =
          origin_of(SectionKind::strings, static_cast<std::uint32_t>(m_string_starts.size()));
      if (offset > k_no_index) {
        return damaged(origin, "offset {} does not fit 32 bits", offset);
      }
      const auto start = static_cast<std::uint32_t>(offset);
      CLBIN_TRY_ASSIGN(std::string text, m_tables.string(start, origin, "text"));
      if (last ? text <= *last : !text.empty()) {
        return damaged(origin, "'{}' is out of order", text);
      }
      m_string_starts.push_back(start);
      offset += k_head_bytes + text.size();
      last = std::move(text);
    }
    if (m_string_starts.size() != m_tables.count(SectionKind::strings) || m_string_starts.empty()) {
      return fail(ErrorCode::damaged, "STRINGS: count is {}, but there are {}",
                  m_tables.count(SectionKind::strings), m_string_starts.size());
    }
    return {};
  }

  // Checks that a string begins at each offset of a record.
  template <Record T>
  Result<void> check_string_starts(std::uint32_t index) const {
    const std::string origin = origin_of(T::k_section, index);
    const auto check = [&](std::string_view field, std::uint32_t offset,
                           const auto& value) -> Result<void> {
      if (!Record<decltype(value)> && !std::ranges::binary_search(m_string_starts, offset)) {
        return damaged(origin, "{}: no string begins at offset {}", field, offset);
      }
      return {};
    };
    CLBIN_TRY(m_tables.read<T>(index, origin, check));
    return {};
  }

  Result<void> check_targets() const {
    Ascending<Digest> digests;
    for (std::uint32_t i = 0; i < m_tables.count(SectionKind::target); ++i) {
      CLBIN_TRY_ASSIGN(const TargetView target, m_tables.read<TargetView>(i));
      CLBIN_TRY(digests.next(target.digest, origin_of(SectionKind::target, i), "its digest"));
      CLBIN_TRY(check_string_starts<TargetView>(i));
    }
    return {};
  }

  Result<void> check_blobs() {
    const SectionRecord& payload = m_tables.directory().section(SectionKind::payload).record;
    Ascending<Digest> digests;
    std::uint64_t expected_offset = 0;
    for (std::uint32_t i = 0; i < m_reader.blob_count(); ++i) {
      const std::string origin = origin_of(SectionKind::blob, i);
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(i));
      CLBIN_TRY(digests.next(blob.raw_digest, origin, "its raw_digest"));
      if (blob.offset != expected_offset) {
        return damaged(origin, "offset is {}, expected {}", blob.offset, expected_offset);
      }
      const std::uint64_t end = blob.offset + blob.stored_bytes;
      const std::uint64_t padding = std::min(padding_after(blob.stored_bytes), payload.bytes - end);
      CLBIN_TRY(check_padding(m_tables.source(), payload.offset + end, padding, origin));
      expected_offset = align_up(end);
    }
    if (expected_offset != payload.bytes) {
      return fail(ErrorCode::damaged, "PAYLOAD: its blobs end at {}, but it has {} bytes",
                  expected_offset, payload.bytes);
    }
    return {};
  }

  Result<void> check_stored_bytes() {
    for (std::uint32_t i = 0; i < m_reader.blob_count(); ++i) {
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(i));
      CLBIN_TRY(m_budget.take_raw(blob.stored_bytes, origin_of(SectionKind::blob, i)));
      CLBIN_TRY(m_reader.read_stored(i));
      CLBIN_TRY(m_reader.reference_of(blob, origin_of(SectionKind::blob, i)));
    }
    return {};
  }

  Result<void> check_raw_bytes() {
    std::vector<std::uint32_t> blobs(m_reader.blob_count());
    std::iota(blobs.begin(), blobs.end(), 0);
    CLBIN_TRY(ProvedBlobs::sort_by_reference(m_reader, blobs));
    ProvedBlobs proved(m_reader);
    for (const std::uint32_t index : blobs) {
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
      CLBIN_TRY(m_budget.take_raw(std::max(blob.raw_bytes, blob.stored_bytes),
                                  origin_of(SectionKind::blob, index)));
      CLBIN_TRY_ASSIGN(const ByteRegion frame, m_reader.read_frame(index));
      CLBIN_TRY(proved.check(index, frame.view()));
    }
    return {};
  }

  Result<void> check_groups() {
    Ascending<std::tuple<std::uint64_t, SharedText, SharedText>> keys;
    std::uint32_t expected_first = 0;
    for (std::uint32_t i = 0; i < m_reader.group_count(); ++i) {
      const std::string origin = origin_of(SectionKind::group, i);
      CLBIN_TRY_ASSIGN(GroupView group, check_group(i));
      CLBIN_TRY(keys.next({group.name_hash, group.program, group.variant}, origin, "it"));
      if (group.first_entry != expected_first) {
        return damaged(origin, "first_entry is {}, expected {}", group.first_entry, expected_first);
      }
      expected_first += group.entry_count;
      CLBIN_TRY(check_group_blobs(group));
      CLBIN_TRY(check_entries(group));
      CLBIN_TRY(check_exact(group));
      m_programs[group.program].emplace(group.variant, std::move(group));
    }
    if (expected_first != m_reader.entry_count()) {
      return fail(ErrorCode::damaged, "GROUP: its groups contain {} entries, but the table has {}",
                  expected_first, m_reader.entry_count());
    }
    return {};
  }

  Result<void> check_requirements() const {
    Ascending<std::uint32_t> groups;
    for (std::uint32_t i = 0; i < m_tables.count(SectionKind::requirement); ++i) {
      const std::string origin = origin_of(SectionKind::requirement, i);
      CLBIN_TRY(check_string_starts<RequirementRecord>(i));
      CLBIN_TRY_ASSIGN(const auto record, m_tables.read_whole<RequirementRecord>(i));
      CLBIN_TRY(m_tables.record(SectionKind::group, record.group, origin));
      CLBIN_TRY(groups.next(record.group, origin, "its group"));
      if (record.extensions.empty()) {
        return damaged(origin, "it names no extension");
      }
    }
    return {};
  }

  Result<void> check_rankings() const {
    Ascending<std::pair<std::uint64_t, std::uint32_t>> places;
    std::uint64_t key = 0;
    std::set<std::uint32_t> groups; // of the key
    SharedText program;             // likewise
    for (std::uint32_t i = 0; i < m_tables.count(SectionKind::ranking); ++i) {
      const std::string origin = origin_of(SectionKind::ranking, i);
      CLBIN_TRY_ASSIGN(const auto record, m_tables.read<RankingRecord>(i));
      CLBIN_TRY(places.next({record.key, record.rank}, origin, "it"));
      if (record.group == k_no_index && record.rank == 0) {
        key = record.key;
        groups = {k_no_index}; // no other record of the key may follow
        program = {};
        continue;
      }
      CLBIN_TRY(m_tables.record(SectionKind::group, record.group, origin));
      CLBIN_TRY_ASSIGN(const GroupView group, m_reader.group(record.group));
      if (record.key != key || i == 0) {
        key = record.key;
        groups.clear();
        program = group.program;
      }
      if (record.rank != groups.size() || record.rank >= k_max_ranked) {
        return damaged(origin, "rank is {}, expected {}", record.rank, groups.size());
      }
      if (group.program != program.str() || !groups.insert(record.group).second) {
        return damaged(origin, "group {} is one of another program, or ranked before",
                       record.group);
      }
    }
    return {};
  }

  Result<void> check_packs() const {
    CLBIN_TRY_ASSIGN(const auto packs, m_reader.packs());
    Ascending<std::tuple<SharedText, std::uint64_t, std::uint64_t>> places;
    for (std::uint32_t i = 0; i < packs.size(); ++i) {
      const std::string origin = origin_of(SectionKind::pack, i);
      CLBIN_TRY(check_string_starts<PackRecord>(i));
      CLBIN_TRY(
          places.next({packs[i].name, packs[i].target_key, packs[i].match_key}, origin, "it"));
      if (i != 0 && packs[i].name == packs[i - 1].name && packs[i].root != packs[i - 1].root) {
        return damaged(origin, "it has another root than the record before, of the same pack");
      }
    }
    return {};
  }

  Result<GroupView> check_group(std::uint32_t index) {
    const std::string origin = origin_of(SectionKind::group, index);
    CLBIN_TRY(check_string_starts<GroupRecord>(index));
    CLBIN_TRY_ASSIGN(GroupView group, m_reader.group(index));
    CLBIN_TRY(m_budget.take_raw(2 * (group.program.size() + group.variant.size()), origin));
    const auto is_name = [](const std::string& text) {
      return !text.empty() && text.find('\0') == std::string::npos;
    };
    if (!is_name(group.program) || !is_name(group.variant)) {
      return damaged(origin, "program or variant is empty or contains a zero byte");
    }
    if (group.name_hash != name_hash(group.program, group.variant)) {
      return damaged(origin, "name_hash is not that of program '{}', variant '{}'", group.program,
                     group.variant);
    }
    return group;
  }

  Result<void> check_group_blobs(const GroupView& group) const {
    const std::string origin = origin_of(SectionKind::group, group.index);
    for (const auto& [field, index] :
         {std::pair("source_blob", group.source_blob), {"manifest_blob", group.manifest_blob}}) {
      if (index == k_no_index && field == std::string_view("source_blob")) {
        continue;
      }
      if (index >= m_reader.blob_count()) {
        return damaged(origin, "{} {} is beyond the {} of the table", field, index,
                       m_reader.blob_count());
      }
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
      if (blob.has_reference()) {
        return damaged(origin, "{} {} has a reference", field, index);
      }
    }
    return {};
  }

  Result<void> check_entries(const GroupView& group) const {
    Ascending<std::tuple<std::uint64_t, Digest, Digest>> keys;
    std::set<std::pair<Digest, BinaryKind>> seen;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      const std::uint32_t index = group.first_entry + i;
      CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(index, group));
      CLBIN_TRY(check_string_starts<EntryRecord>(index));
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(entry.blob));
      CLBIN_TRY(keys.next({entry.match_key, entry.target.digest, blob.raw_digest},
                          origin_of(SectionKind::entry, index), "it"));
      if (!seen.emplace(entry.target.digest, entry.kind).second) {
        return damaged(origin_of(SectionKind::entry, index),
                       "an entry before it has the same target and kind");
      }
    }
    return {};
  }

  Result<void> check_exact(const GroupView& group) const {
    Ascending<std::pair<std::uint64_t, std::uint32_t>> keys;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      const std::uint32_t index = group.first_entry + i;
      const std::string origin = origin_of(SectionKind::exact, index);
      CLBIN_TRY_ASSIGN(const ExactRecord exact, m_tables.read<ExactRecord>(index));
      CLBIN_TRY(keys.next({exact.target_key, exact.entry}, origin, "it"));
      if (!group.contains(exact.entry)) {
        return damaged(origin, "entry {} is not one of its group", exact.entry);
      }
      CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(exact.entry, group));
      if (exact.target_key != base::leading_u64(entry.target.digest)) {
        return damaged(origin, "target_key is not that of entry {}", exact.entry);
      }
    }
    return {};
  }

  // Checks the fields of TARGET other than the digest, which covers the whole identity. Reports and
  // --list show these fields.
  Result<void> check_target_of_row(const EntryView& entry, const ManifestEntry& row) const {
    std::string difference;
    const TargetView expected = view_of(row.target);
    visit(entry.target, [&](std::string_view name, const auto& in_table) {
      visit(expected, [&](std::string_view of_row, const auto& in_row) {
        if constexpr (std::same_as<decltype(in_table), decltype(in_row)>) {
          const bool is_first = name == of_row && in_table != in_row && difference.empty();
          difference = is_first ? fmt::format("{} is {}, but the manifest records {}", name,
                                              shown(in_table), shown(in_row))
                                : std::move(difference);
        }
      });
    });
    if (difference.empty()) {
      return {};
    }
    const std::string origin = origin_of(SectionKind::entry, entry.index);
    std::uint32_t target = 0;
    CLBIN_TRY(m_tables.read<EntryRecord>(
        entry.index, origin, [&](std::string_view field, std::uint32_t number, const auto&) {
          target = field == "target" ? number : target;
          return Result<void>();
        }));
    return fail(ErrorCode::manifest_invalid, "{}: {} for {}",
                origin_of(SectionKind::target, target), difference, origin);
  }

  Result<void> check_programs() {
    for (const auto& [program, variants] : m_programs) {
      CLBIN_TRY(check_program(variants));
    }
    return {};
  }

  // The digests of the blobs are checked with all others.
  Result<void> check_data(const Manifest& manifest) const {
    for (const KnownAnswer& answer : manifest.answers) {
      for (const NamedData& data : data_of(answer)) {
        CLBIN_TRY(m_reader.find_data(answer, data));
      }
    }
    return {};
  }

  // The rows must be in the order (variant, entry), so that exactly one entry names each row.
  Result<void> check_program(const std::map<SharedText, GroupView>& variants) {
    const GroupView& first = variants.begin()->second;
    ReadBudget budget = m_reader.budget(); // of memory, which each program releases
    CLBIN_TRY_ASSIGN(const BlobView manifest_blob, m_reader.blob(first.manifest_blob));
    CLBIN_TRY(m_budget.take_raw(manifest_blob.raw_bytes,
                                origin_of(SectionKind::blob, first.manifest_blob)));
    CLBIN_TRY_ASSIGN(const Manifest manifest, m_reader.decode_manifest_of(first, budget));
    ManifestCheck check(m_reader, manifest);
    std::uint32_t expected_row = 0;
    for (const auto& [variant, group] : variants) {
      if (group.source_blob != first.source_blob || group.manifest_blob != first.manifest_blob) {
        return damaged(origin_of(SectionKind::group, group.index),
                       "its source or manifest is not that of {}",
                       origin_of(SectionKind::group, first.index));
      }
      CLBIN_TRY(check.check(group));
      for (std::uint32_t i = 0; i < group.entry_count; ++i, ++expected_row) {
        CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(group.first_entry + i, group));
        if (entry.manifest_row != expected_row) {
          return damaged(origin_of(SectionKind::entry, entry.index),
                         "manifest_row is {}, expected {}", entry.manifest_row, expected_row);
        }
        CLBIN_TRY(check_target_of_row(entry, manifest.entries[expected_row]));
      }
    }
    if (manifest.entries.size() != expected_row) {
      return fail(ErrorCode::manifest_invalid,
                  "manifest of program '{}': it has {} rows, the table {} entries", first.program,
                  manifest.entries.size(), expected_row);
    }
    CLBIN_TRY(check_data(manifest));
    if (first.source_blob != k_no_index) {
      CLBIN_TRY_ASSIGN(const BlobView source, m_reader.blob(first.source_blob));
      CLBIN_TRY(
          m_budget.take_raw(source.raw_bytes, origin_of(SectionKind::blob, first.source_blob)));
      ReadBudget of_source = m_reader.budget();
      CLBIN_TRY(m_reader.read_source(first, &of_source));
    }
    return {};
  }

  const BundleReader& m_reader;
  const TablePages& m_tables;
  std::vector<std::uint32_t> m_string_starts;
  std::map<SharedText, std::map<SharedText, GroupView>> m_programs; // by program and variant
  ReadBudget m_budget;
};

} // namespace

Result<void> ManifestCheck::check(const GroupView& group) {
  const std::string origin = fmt::format("manifest of program '{}'", told(group.program));
  if (group.program != m_manifest.program) {
    return fail(ErrorCode::manifest_invalid, "{}: it describes program '{}'", origin,
                told(m_manifest.program));
  }
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(group.first_entry + i, group));
    CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(entry.blob));
    if (entry.manifest_row >= m_manifest.entries.size()) {
      return fail(ErrorCode::manifest_invalid, "{}: {} names row {}, but it has {}", origin,
                  origin_of(SectionKind::entry, entry.index), entry.manifest_row,
                  m_manifest.entries.size());
    }
    if (m_is_named[entry.manifest_row]) {
      return fail(ErrorCode::manifest_invalid, "{}: {} names row {}, which another entry names",
                  origin, origin_of(SectionKind::entry, entry.index), entry.manifest_row);
    }
    m_is_named[entry.manifest_row] = true;
    const std::string difference =
        row_difference(entry, blob, m_manifest.entries[entry.manifest_row], group.variant);
    if (!difference.empty()) {
      return fail(ErrorCode::manifest_invalid, "{}: row {}: {}", origin, entry.manifest_row,
                  difference);
    }
  }
  return {};
}

Result<Bytes> ProvedBlobs::read(std::uint32_t index) {
  if (m_held == index) {
    CLBIN_TRY(charge(index, m_reference.size())); // the caller writes each copy
    return m_reference;
  }
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  CLBIN_TRY_ASSIGN(const ByteRegion frame, m_reader.read_frame(index));
  return decompress(index, blob, frame.view());
}

Result<Digest> ProvedBlobs::check(std::uint32_t index, ByteView frame) {
  if (m_held == index) {
    return digest(index);
  }
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  if (content_codec(blob) == BlobCodec::stored) {
    CLBIN_TRY(prove(index, blob, frame)); // without a copy
  } else {
    CLBIN_TRY(decompress(index, blob, frame));
  }
  return digest(index);
}

Result<void> ProvedBlobs::prove(std::uint32_t index, const BlobView& blob, ByteView raw) {
  // The reader has checked the stored digest, which is over the same bytes if they are stored.
  const Digest raw_digest = static_cast<BlobCodec>(blob.codec) == BlobCodec::stored
                                ? blob.stored_digest
                                : base::digest_of(raw);
  if (m_reader.table_digest(raw_digest) != blob.raw_digest) {
    return fail(ErrorCode::digest_mismatch, "blob {}: raw_digest does not match its raw bytes",
                index);
  }
  m_digests.insert_or_assign(index, raw_digest);
  return {};
}

Result<Bytes> ProvedBlobs::decompress(std::uint32_t index, const BlobView& blob, ByteView frame) {
  CLBIN_TRY(charge(index, blob.raw_bytes));
  if (blob.has_reference() && m_held != blob.reference) {
    CLBIN_TRY(hold_reference(blob.reference));
  }
  CLBIN_TRY_ASSIGN(Bytes raw, m_reader.decompress(index, frame, m_reference, m_decompressor));
  CLBIN_TRY(prove(index, blob, raw));
  return raw;
}

Result<void> ProvedBlobs::hold_reference(std::uint32_t index) {
  m_held.reset();
  m_reference = {};
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  if (blob.has_reference()) {
    return {}; // BundleReader::decompress rejects the blob that refers to it
  }
  CLBIN_TRY(charge(index, blob.raw_bytes));
  CLBIN_TRY_ASSIGN(const ByteRegion frame, m_reader.read_frame(index));
  CLBIN_TRY_ASSIGN(m_reference, m_reader.decompress(index, frame.view(), {}, m_decompressor));
  CLBIN_TRY(prove(index, blob, m_reference));
  m_held = index;
  return {};
}

Result<void> ProvedBlobs::sort_by_reference(const BundleReader& reader,
                                            std::vector<std::uint32_t>& blobs) {
  // Places a reference directly after the blobs compressed against it, when its raw bytes are in
  // memory.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed;
  keyed.reserve(blobs.size());
  for (const std::uint32_t index : blobs) {
    CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(index));
    const bool alone = !blob.has_reference();
    const std::uint64_t family = alone ? index : blob.reference;
    keyed.emplace_back(2 * family + (alone ? 1 : 0), index);
  }
  std::ranges::sort(keyed);
  std::ranges::transform(keyed, blobs.begin(), [](const auto& one) { return one.second; });
  return {};
}

Result<void> BundleReader::verify() const {
  if (m_is_trusted) {
    CLBIN_TRY_ASSIGN(const std::vector<TrailingRecord> records, signature_records());
    CLBIN_TRY(check_every_signature(root_digest(), records));
  }
  return Verifier(*this, *m_tables).run();
}

} // namespace clbin::format
