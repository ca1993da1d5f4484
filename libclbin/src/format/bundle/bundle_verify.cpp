// Checks every rule of clbin(5) on every byte; implements BundleReader::verify and ManifestCheck.
#include "format/bundle/bundle_reader.hpp"

#include "base/json_document.hpp"

#include <set>
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

// The last key of a table whose keys must ascend.
template <typename Key>
class Ascending {
public:
  // Error: damaged, unless `key` is above the last one. `subject` is what is out of order.
  Result<void> next(Key key, std::string_view origin, std::string_view subject) {
    if (m_last && !(*m_last < key)) {
      return fail(ErrorCode::damaged, "{}: {} is out of order", origin, subject);
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
    CLBIN_TRY(check_pages());
    CLBIN_TRY(check_section_padding());
    CLBIN_TRY(m_reader.key_slots());
    CLBIN_TRY(check_strings());
    CLBIN_TRY(check_targets());
    CLBIN_TRY(check_blobs());
    CLBIN_TRY(m_reader.is_locked() ? check_stored_bytes() : check_raw_bytes());
    CLBIN_TRY(check_groups());
    if (m_reader.is_locked()) {
      return fail(ErrorCode::encrypted, "its contents are encrypted, and no key was given");
    }
    return check_programs();
  }

private:
  Result<void> check_pages() const {
    for (const SectionLayout& section : m_tables.directory().sections()) {
      for (std::uint32_t page = 0; page < section.page_count; ++page) {
        CLBIN_TRY(m_tables.page(section, page));
      }
    }
    return {};
  }

  Result<void> check_section_padding() const {
    for (const SectionLayout& section : m_tables.directory().sections()) {
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
        return fail(ErrorCode::damaged, "{}: offset {} does not fit 32 bits", origin, offset);
      }
      const auto start = static_cast<std::uint32_t>(offset);
      CLBIN_TRY_ASSIGN(std::string text, m_tables.string(start, origin, "text"));
      if (last ? text <= *last : !text.empty()) {
        return fail(ErrorCode::damaged, "{}: '{}' is out of order", origin, text);
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

  Result<void> check_string_start(std::uint32_t offset, std::string_view origin,
                                  std::string_view field) const {
    if (!std::binary_search(m_string_starts.begin(), m_string_starts.end(), offset)) {
      return fail(ErrorCode::damaged, "{}: {}: no string begins at offset {}", origin, field,
                  offset);
    }
    return {};
  }

  Result<void> check_targets() const {
    Ascending<Digest> digests;
    for (std::uint32_t i = 0; i < m_tables.count(SectionKind::target); ++i) {
      const std::string origin = origin_of(SectionKind::target, i);
      CLBIN_TRY_ASSIGN(const TargetRecord target, m_tables.read<TargetRecord>(i, "TARGET"));
      CLBIN_TRY(digests.next(target.digest, origin, "its digest"));
      CLBIN_TRY(check_string_start(target.platform_name, origin, "platform_name"));
      CLBIN_TRY(check_string_start(target.device_name, origin, "device_name"));
      CLBIN_TRY(check_string_start(target.driver_version, origin, "driver_version"));
      CLBIN_TRY(check_string_start(target.spec, origin, "spec"));
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
        return fail(ErrorCode::damaged, "{}: offset is {}, expected {}", origin, blob.offset,
                    expected_offset);
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

  // Checks each reference together with the blobs that are compressed against it, so that it is
  // read only once.
  Result<void> check_raw_bytes() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order; // reference or blob itself, blob
    for (std::uint32_t i = 0; i < m_reader.blob_count(); ++i) {
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(i));
      order.emplace_back(!blob.has_reference() ? i : blob.reference, i);
    }
    std::ranges::sort(order, {}, [](const auto& pair) {
      return std::tuple(pair.first, pair.first != pair.second, pair.second);
    });
    Bytes reference;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto [first, index] = order[i];
      const bool is_needed = i + 1 < order.size() && order[i + 1].first == index;
      if (first == index) {
        reference = {};
      }
      CLBIN_TRY_ASSIGN(Bytes raw, check_blob(index, reference));
      if (is_needed) {
        reference = std::move(raw);
      }
    }
    return {};
  }

  Result<Bytes> check_blob(std::uint32_t index, base::ByteView reference) {
    CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
    CLBIN_TRY_ASSIGN(Bytes raw, m_reader.read_against(index, reference, m_budget));
    if (m_reader.table_digest(base::digest_of(raw)) != blob.raw_digest) {
      return fail(ErrorCode::digest_mismatch, "{}: raw_digest does not match its raw bytes",
                  origin_of(SectionKind::blob, index));
    }
    return raw;
  }

  Result<void> check_groups() {
    Ascending<std::tuple<std::uint64_t, SharedText, SharedText>> keys;
    std::uint32_t expected_first = 0;
    for (std::uint32_t i = 0; i < m_reader.group_count(); ++i) {
      const std::string origin = origin_of(SectionKind::group, i);
      CLBIN_TRY_ASSIGN(GroupView group, check_group(i));
      CLBIN_TRY(keys.next({name_hash(group.program, group.variant), group.program, group.variant},
                          origin, "it"));
      if (group.first_entry != expected_first) {
        return fail(ErrorCode::damaged, "{}: first_entry is {}, expected {}", origin,
                    group.first_entry, expected_first);
      }
      expected_first += group.entry_count;
      CLBIN_TRY(check_group_blobs(group));
      CLBIN_TRY(check_entries(group));
      CLBIN_TRY(check_exact(group));
      m_programs[group.program].push_back(i);
    }
    if (expected_first != m_reader.entry_count()) {
      return fail(ErrorCode::damaged, "GROUP: its groups contain {} entries, but the table has {}",
                  expected_first, m_reader.entry_count());
    }
    return {};
  }

  Result<GroupView> check_group(std::uint32_t index) {
    const std::string origin = origin_of(SectionKind::group, index);
    CLBIN_TRY_ASSIGN(const GroupRecord record, m_tables.read<GroupRecord>(index, "GROUP"));
    CLBIN_TRY(check_string_start(record.program, origin, "program"));
    CLBIN_TRY(check_string_start(record.variant, origin, "variant"));
    CLBIN_TRY(check_string_start(record.options, origin, "options"));
    CLBIN_TRY_ASSIGN(GroupView group, m_reader.group(index));
    CLBIN_TRY(m_budget.take_raw(2 * (group.program.size() + group.variant.size()), origin));
    const auto is_name = [](const std::string& text) {
      return !text.empty() && text.find('\0') == std::string::npos;
    };
    if (!is_name(group.program) || !is_name(group.variant)) {
      return fail(ErrorCode::damaged, "{}: program or variant is empty or contains a zero byte",
                  origin);
    }
    if (record.name_hash != name_hash(group.program, group.variant)) {
      return fail(ErrorCode::damaged, "{}: name_hash is not that of program '{}', variant '{}'",
                  origin, group.program, group.variant);
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
        return fail(ErrorCode::damaged, "{}: {} {} is beyond the {} of the table", origin, field,
                    index, m_reader.blob_count());
      }
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
      if (blob.has_reference()) {
        return fail(ErrorCode::damaged, "{}: {} {} has a reference", origin, field, index);
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
      CLBIN_TRY(check_entry_texts(index));
      CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(entry.blob));
      CLBIN_TRY(keys.next({entry.match_key, entry.target.digest, blob.raw_digest},
                          origin_of(SectionKind::entry, index), "it"));
      if (!seen.emplace(entry.target.digest, entry.kind).second) {
        return fail(ErrorCode::damaged, "{}: an entry before it has the same target and kind",
                    origin_of(SectionKind::entry, index));
      }
    }
    return {};
  }

  Result<void> check_entry_texts(std::uint32_t index) const {
    const std::string origin = origin_of(SectionKind::entry, index);
    CLBIN_TRY_ASSIGN(const EntryRecord record, m_tables.read<EntryRecord>(index, "ENTRY"));
    CLBIN_TRY(check_string_start(record.kernels, origin, "kernels"));
    CLBIN_TRY(check_string_start(record.options, origin, "options"));
    return {};
  }

  Result<void> check_exact(const GroupView& group) const {
    Ascending<std::pair<std::uint64_t, std::uint32_t>> keys;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      const std::uint32_t index = group.first_entry + i;
      const std::string origin = origin_of(SectionKind::exact, index);
      CLBIN_TRY_ASSIGN(const ExactRecord exact, m_tables.read<ExactRecord>(index, "EXACT"));
      CLBIN_TRY(keys.next({exact.target_key, exact.entry}, origin, "it"));
      if (!group.contains(exact.entry)) {
        return fail(ErrorCode::damaged, "{}: entry {} is not one of its group", origin,
                    exact.entry);
      }
      CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(exact.entry, group));
      if (exact.target_key != base::leading_u64(entry.target.digest)) {
        return fail(ErrorCode::damaged, "{}: target_key is not that of entry {}", origin,
                    exact.entry);
      }
    }
    return {};
  }

  // Checks the fields of TARGET other than the digest, which covers the whole identity. Reports and
  // --list show these fields.
  Result<void> check_target_of_row(const EntryView& entry, const ManifestEntry& row) const {
    const std::string origin = origin_of(SectionKind::entry, entry.index);
    CLBIN_TRY_ASSIGN(const EntryRecord record, m_tables.read<EntryRecord>(entry.index, "ENTRY"));
    CLBIN_TRY_ASSIGN(const TargetRecord target, m_tables.read<TargetRecord>(record.target, origin));
    const std::string target_origin = origin_of(SectionKind::target, record.target);
    const DeviceIdentity& identity = row.target.identity;
    const TargetFacts facts = target_facts(row.target);
    const std::tuple<std::string_view, std::uint32_t, std::uint32_t> numbers[] = {
        {"family", target.family, static_cast<std::uint32_t>(facts.family)},
        {"architecture", target.architecture, facts.architecture},
        {"address_bits", target.address_bits, identity.address_bits},
        {"features", target.features, facts.features},
    };
    for (const auto& [name, in_table, in_row] : numbers) {
      if (in_table != in_row) {
        return fail(ErrorCode::manifest_invalid, "{}: {} is {}, but the manifest records {} for {}",
                    target_origin, name, in_table, in_row, origin);
      }
    }
    const std::tuple<std::string_view, const SharedText&, const std::string&> texts[] = {
        {"platform_name", entry.target.platform_name, identity.platform_name},
        {"device_name", entry.target.device_name, identity.device_name},
        {"driver_version", entry.target.driver_version, identity.driver_version},
        {"spec", entry.target.spec, row.target.spec},
    };
    for (const auto& [name, in_table, in_row] : texts) {
      if (in_table != in_row) {
        return fail(ErrorCode::manifest_invalid,
                    "{}: {} is '{}', but the manifest records '{}' for {}", target_origin, name,
                    base::printable_excerpt(in_table), base::printable_excerpt(in_row), origin);
      }
    }
    return {};
  }

  Result<void> check_programs() {
    for (const auto& [program, indices] : m_programs) {
      std::vector<GroupView> by_variant;
      for (const std::uint32_t index : indices) {
        CLBIN_TRY_ASSIGN(GroupView group, m_reader.group(index));
        by_variant.push_back(std::move(group));
      }
      std::ranges::sort(
          by_variant, {}, [](const GroupView& group) -> auto& { return group.variant.str(); });
      CLBIN_TRY(check_program(by_variant));
    }
    return {};
  }

  // The rows must be in the order (variant, entry), so that exactly one entry names each row.
  Result<void> check_program(const std::vector<GroupView>& groups) {
    const GroupView& first = groups.front();
    ReadBudget budget = m_reader.budget(); // of memory, which each program releases
    CLBIN_TRY_ASSIGN(const BlobView manifest_blob, m_reader.blob(first.manifest_blob));
    CLBIN_TRY(m_budget.take_raw(manifest_blob.raw_bytes,
                                origin_of(SectionKind::blob, first.manifest_blob)));
    CLBIN_TRY_ASSIGN(const Manifest manifest, m_reader.decode_manifest_of(first, budget));
    ManifestCheck check(m_reader, manifest);
    std::uint32_t expected_row = 0;
    for (const GroupView& group : groups) {
      if (group.source_blob != first.source_blob || group.manifest_blob != first.manifest_blob) {
        return fail(ErrorCode::damaged, "{}: its source or manifest is not that of {}",
                    origin_of(SectionKind::group, group.index),
                    origin_of(SectionKind::group, first.index));
      }
      CLBIN_TRY(check.check(group));
      for (std::uint32_t i = 0; i < group.entry_count; ++i, ++expected_row) {
        CLBIN_TRY_ASSIGN(const EntryView entry, m_reader.entry(group.first_entry + i, group));
        if (entry.manifest_row != expected_row) {
          return fail(ErrorCode::damaged, "{}: manifest_row is {}, expected {}",
                      origin_of(SectionKind::entry, entry.index), entry.manifest_row, expected_row);
        }
        CLBIN_TRY(check_target_of_row(entry, manifest.entries[expected_row]));
      }
    }
    if (manifest.entries.size() != expected_row) {
      return fail(ErrorCode::manifest_invalid,
                  "manifest of program '{}': it has {} rows, the table {} entries", first.program,
                  manifest.entries.size(), expected_row);
    }
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
  std::map<SharedText, std::vector<std::uint32_t>> m_programs; // the groups of each program
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

Result<void> BundleReader::verify() const {
  if (m_is_trusted) {
    CLBIN_TRY_ASSIGN(const std::vector<TrailingRecord> records, signature_records());
    CLBIN_TRY(check_every_signature(root_digest(), records));
  }
  return Verifier(*this, *m_tables).run();
}

} // namespace clbin::format
