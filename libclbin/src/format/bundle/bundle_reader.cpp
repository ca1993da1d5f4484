#include "format/bundle/bundle_reader.hpp"

#include "base/crypto/key_text.hpp"
#include "base/json_document.hpp"
#include "base/text.hpp"

#include <unordered_set>

namespace clbin::format {

namespace {

constexpr std::size_t k_max_listed_names = 8;

std::string join_names(const std::set<SharedText>& names) {
  std::string text;
  std::size_t listed = 0;
  for (const SharedText& name : names) {
    if (listed == k_max_listed_names) {
      return text + fmt::format(" and {} more", names.size() - listed);
    }
    text += fmt::format("{}'{}'", listed == 0 ? "" : ", ", told(name));
    ++listed;
  }
  return names.empty() ? "none" : text;
}

// A frame, or the raw bytes themselves, and what encryption adds.
Result<void> check_encrypted_size(const BlobView& blob, std::string_view origin) {
  constexpr std::uint64_t k_added = base::k_encryption_bytes;
  const bool is_frame = blob.stored_bytes > k_added && blob.stored_bytes - k_added < blob.raw_bytes;
  const bool is_raw = blob.stored_bytes >= k_added &&
                      blob.stored_bytes - k_added == blob.raw_bytes && !blob.has_reference();
  if (!is_frame && !is_raw) {
    return damaged(origin, "codec 2 with stored_bytes {}, raw_bytes {}{}", blob.stored_bytes,
                   blob.raw_bytes, blob.has_reference() ? " and a reference" : "");
  }
  return {};
}

Result<void> check_codec(const BlobView& blob, bool has_keys, std::string_view origin) {
  const auto codec = static_cast<BlobCodec>(blob.codec);
  if (has_keys && codec != BlobCodec::zstd_encrypted) {
    return damaged(origin, "codec is {}, but the bundle is encrypted", blob.codec);
  }
  switch (codec) {
  case BlobCodec::stored:
    if (blob.stored_bytes != blob.raw_bytes || blob.has_reference()) {
      return damaged(origin, "codec 0 with stored_bytes {}, raw_bytes {} or a reference",
                     blob.stored_bytes, blob.raw_bytes);
    }
    return {};
  case BlobCodec::zstd:
    if (blob.stored_bytes >= blob.raw_bytes) {
      return damaged(origin, "stored_bytes {} is not below raw_bytes {}", blob.stored_bytes,
                     blob.raw_bytes);
    }
    return {};
  case BlobCodec::zstd_encrypted:
    return has_keys ? check_encrypted_size(blob, origin) : Result<void>();
  }
  return damaged(origin, "codec {} is not known", blob.codec);
}

} // namespace

std::string describe(const EntryView& entry) {
  const bool is_made_here = entry.target.origin == TargetOrigin::installed_device;
  return describe(info_from_match_key(entry.match_key),
                  is_made_here ? told(entry.target.platform_name) : std::string());
}

// Opening and unlocking. --------------------------------------------------------------------------

BundleReader::BundleReader(std::shared_ptr<const ByteSource> source, OpenedDirectory opened,
                           const ReadLimits& limits, bool is_trusted)
    : m_prefix(opened.prefix), m_limits(limits),
      m_tables(std::make_unique<TablePages>(std::move(source), std::move(opened.directory))),
      m_is_trusted(is_trusted), m_counter(opened.counter),
      m_decompressed(std::make_unique<std::atomic<std::uint64_t>>(0)) {}

std::filesystem::path pack_path(const std::filesystem::path& folder, std::string_view name) {
  return folder / base::to_path(fmt::format("{}.clbin", name));
}

Result<BundleReader> BundleReader::open_file(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  return open(std::move(source));
}

Result<BundleReader> BundleReader::open(std::shared_ptr<const ByteSource> source,
                                        const ReadLimits& limits, TrailingBytes trailing,
                                        const std::optional<SignaturePolicy>& required) {
  CLBIN_TRY_ASSIGN(OpenedDirectory opened, open_directory(*source, limits, trailing, required));
  return BundleReader(std::move(source), std::move(opened), limits, required.has_value());
}

Result<std::vector<TrailingRecord>> BundleReader::signature_records() const {
  return read_trailing_records(m_tables->source(), m_prefix, RecordSelection::known);
}

Result<std::vector<KeySlot>> BundleReader::key_slots() const {
  std::vector<KeySlot> slots;
  if (!is_encrypted()) {
    return slots;
  }
  for (std::uint32_t i = 0; i < m_tables->count(SectionKind::keys); ++i) {
    CLBIN_TRY_ASSIGN(const KeySlot slot, m_tables->read<KeySlot>(i));
    slots.push_back(slot);
  }
  CLBIN_TRY(check_key_slots(slots));
  return slots;
}

Result<void> BundleReader::unlock(std::shared_ptr<const base::ContentKey> key) {
  if (!is_encrypted()) {
    return fail(ErrorCode::invalid_argument, "the bundle is not encrypted");
  }
  CLBIN_TRY_ASSIGN(const std::vector<KeySlot> slots, key_slots());
  if (slots.front().key_id != key->id()) {
    return fail(ErrorCode::wrong_key, "content key {} does not open it: it is encrypted with {}",
                base::to_text(key->id()), base::to_text(slots.front().key_id));
  }
  m_key = std::move(key);
  return {};
}

// Tables. -----------------------------------------------------------------------------------------

// Checks the range of a group, which can be damaged, or that of another bundle.
bool BundleReader::has_range(const GroupRecord& group) const noexcept {
  return group.first_entry <= entry_count() &&
         group.entry_count <= entry_count() - group.first_entry;
}

Result<void> BundleReader::check_range(const GroupView& group) const {
  if (!has_range(group)) {
    return fail(ErrorCode::invalid_argument, "group '{}' is not one of this bundle", group.program);
  }
  return {};
}

Result<void> BundleReader::check_record_range(const GroupRecord& group, std::uint32_t index) const {
  if (!has_range(group)) {
    return damaged(origin_of(SectionKind::group, index),
                   "{} entries from {} on are beyond the {} of the table", group.entry_count,
                   group.first_entry, entry_count());
  }
  return {};
}

// Searches the ranges of GROUP, which cover ENTRY without gaps or overlaps.
Result<std::uint32_t> BundleReader::group_of_entry(std::uint32_t entry) const {
  std::uint32_t low = 0;
  std::uint32_t high = group_count();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    CLBIN_TRY_ASSIGN(const auto record, m_tables->read<GroupRecord>(middle));
    CLBIN_TRY(check_record_range(record, middle));
    if (entry < record.first_entry) {
      high = middle;
    } else if (entry - record.first_entry < record.entry_count) {
      return middle;
    } else {
      low = middle + 1;
    }
  }
  return damaged(origin_of(SectionKind::entry, entry), "no group contains it");
}

Result<EntryView> BundleReader::entry_view(std::uint32_t index, std::uint32_t group) const {
  CLBIN_TRY_ASSIGN(EntryRecord record, m_tables->read_whole<EntryRecord>(index));
  if (record.blob >= blob_count()) {
    return damaged(origin_of(SectionKind::entry, index), "blob {} is beyond the {} of the table",
                   record.blob, blob_count());
  }
  return EntryView{std::move(record), index, group};
}

tl::unexpected<base::Error> BundleReader::no_such_group(std::string_view program,
                                                        std::string_view variant) const {
  std::set<SharedText> programs;
  std::set<SharedText> variants;
  std::unordered_set<const void*> seen; // avoids repeated comparisons of the same object
  for (std::uint32_t i = 0; i < group_count(); ++i) {
    auto group = this->group(i);
    if (!group) {
      return tl::unexpected(std::move(group.error()));
    }
    if (group->program == program) {
      variants.insert(std::move(group->variant));
    }
    if (seen.insert(group->program.identity()).second) {
      programs.insert(std::move(group->program));
    }
  }
  if (variants.empty()) {
    return fail(ErrorCode::no_such_program, "no program '{}' (there is: {})", program,
                join_names(programs));
  }
  return fail(ErrorCode::no_such_variant, "program '{}' has no variant '{}' (there is: {})",
              program, variant, join_names(variants));
}

Result<GroupView> BundleReader::group(std::uint32_t index) const {
  CLBIN_TRY_ASSIGN(GroupRecord record, m_tables->read_whole<GroupRecord>(index));
  CLBIN_TRY(check_record_range(record, index));
  CLBIN_TRY_ASSIGN(SharedNames required, required_by(index));
  return GroupView{std::move(record), index, std::move(required)};
}

Result<SharedNames> BundleReader::required_by(std::uint32_t group) const {
  std::uint32_t low = 0;
  std::uint32_t high = m_tables->count(SectionKind::requirement);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    CLBIN_TRY_ASSIGN(const auto record, m_tables->read<RequirementRecord>(middle));
    if (record.group == group) {
      CLBIN_TRY_ASSIGN(auto found, m_tables->read_whole<RequirementRecord>(middle));
      return std::move(found.extensions);
    }
    (record.group < group ? low : high) = record.group < group ? middle + 1 : middle;
  }
  return SharedNames();
}

Result<std::vector<GroupView>>
BundleReader::groups_with_requirements(std::string_view program) const {
  std::vector<GroupView> groups;
  for (std::uint32_t i = 0; i < m_tables->count(SectionKind::requirement); ++i) {
    CLBIN_TRY_ASSIGN(const auto record, m_tables->read<RequirementRecord>(i));
    CLBIN_TRY(m_tables->record(SectionKind::group, record.group,
                               origin_of(SectionKind::requirement, i))); // checks the index
    CLBIN_TRY_ASSIGN(GroupView group, this->group(record.group));
    if (group.program == program) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

Result<std::optional<std::vector<RankedGroup>>>
BundleReader::ranked_groups(std::string_view program, std::uint64_t key) const {
  std::optional<std::vector<RankedGroup>> groups;
  const std::uint32_t count = m_tables->count(SectionKind::ranking);
  if (count == 0) {
    return groups;
  }
  CLBIN_TRY_ASSIGN(std::uint32_t index, m_tables->lower_bound(SectionKind::ranking, 0, count, key));
  for (; index < count && (!groups || groups->size() < k_max_ranked); ++index) {
    CLBIN_TRY_ASSIGN(const auto record, m_tables->read<RankingRecord>(index));
    if (record.key != key) {
      break;
    }
    groups = groups ? std::move(groups) : std::vector<RankedGroup>();
    if (record.group == k_no_index) {
      break;
    }
    if (record.group >= group_count()) {
      return damaged(origin_of(SectionKind::ranking, index),
                     "group {} is beyond the {} of the table", record.group, group_count());
    }
    CLBIN_TRY_ASSIGN(GroupView group, this->group(record.group));
    if (group.program != program) {
      return damaged(origin_of(SectionKind::ranking, index),
                     "group {} is one of program '{}', not of '{}'", record.group,
                     told(group.program), program);
    }
    groups->push_back({std::move(group), record.work_items, record.local_bytes});
  }
  return groups;
}

Result<std::vector<PackRecord>> BundleReader::packs() const {
  std::vector<PackRecord> packs;
  for (std::uint32_t i = 0; i < m_tables->count(SectionKind::pack); ++i) {
    CLBIN_TRY_ASSIGN(auto record, m_tables->read_whole<PackRecord>(i));
    if (!is_pack_name(record.name)) {
      return damaged(origin_of(SectionKind::pack, i), "'{}' is not the name of a pack",
                     told(record.name));
    }
    packs.push_back(std::move(record));
  }
  return packs;
}

Result<EntryView> BundleReader::entry(std::uint32_t index) const {
  CLBIN_TRY(m_tables->record(SectionKind::entry, index)); // checks the index
  CLBIN_TRY_ASSIGN(const std::uint32_t group, group_of_entry(index));
  return entry_view(index, group);
}

Result<EntryView> BundleReader::entry(std::uint32_t index, const GroupView& group) const {
  if (!group.contains(index)) {
    return fail(ErrorCode::invalid_argument, "entry {} is not one of group '{}', variant '{}'",
                index, group.program, group.variant);
  }
  return entry_view(index, group.index);
}

Result<GroupView> BundleReader::find_group(std::string_view program,
                                           std::string_view variant) const {
  const std::uint64_t hash = name_hash(program, variant);
  const std::uint32_t count = group_count();
  CLBIN_TRY_ASSIGN(std::uint32_t index, m_tables->lower_bound(SectionKind::group, 0, count, hash));
  for (; index < count; ++index) {
    CLBIN_TRY_ASSIGN(GroupView group, this->group(index));
    if (group.name_hash != hash) {
      break;
    }
    if (group.program == program && group.variant == variant) {
      return group;
    }
  }
  return no_such_group(program, variant);
}

Result<std::vector<EntryView>> BundleReader::find_exact(const GroupView& group,
                                                        const Digest& target) const {
  CLBIN_TRY(check_range(group));
  const std::uint64_t key = base::leading_u64(target);
  const std::uint32_t end = group.first_entry + group.entry_count;
  CLBIN_TRY_ASSIGN(std::uint32_t index, m_tables->lower_bound(SectionKind::exact, group.first_entry,
                                                              group.entry_count, key));
  std::vector<EntryView> found;
  std::optional<std::uint32_t> last;
  for (; index < end; ++index) {
    const std::string origin = origin_of(SectionKind::exact, index);
    CLBIN_TRY_ASSIGN(const ExactRecord exact, m_tables->read<ExactRecord>(index));
    if (exact.target_key != key) {
      break;
    }
    if (last.has_value() && exact.entry <= *last) {
      return damaged(origin, "it is out of order");
    }
    last = exact.entry;
    if (!group.contains(exact.entry)) {
      return damaged(origin, "entry {} is not one of its group", exact.entry);
    }
    CLBIN_TRY_ASSIGN(EntryView entry, entry_view(exact.entry, group.index));
    if (entry.target.digest == target) {
      if (std::ranges::find(found, entry.kind, &EntryView::kind) != found.end()) {
        return damaged(origin_of(SectionKind::entry, exact.entry),
                       "an entry before it has the same target and kind");
      }
      found.push_back(std::move(entry));
    }
  }
  return found;
}

Result<EntryRange> BundleReader::find_key_range(const GroupView& group, std::uint64_t low,
                                                std::uint64_t high) const {
  CLBIN_TRY(check_range(group));
  if (low > high) {
    return EntryRange{group.first_entry, 0};
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t first,
                   m_tables->lower_bound(SectionKind::entry, //
                                         group.first_entry, group.entry_count, low));
  const std::uint32_t left = group.entry_count - (first - group.first_entry);
  if (high == ~std::uint64_t{0}) {
    return EntryRange{first, left};
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t end,
                   m_tables->lower_bound(SectionKind::entry, first, left, high + 1));
  return EntryRange{first, end - first};
}

// Blobs. ------------------------------------------------------------------------------------------

Result<BlobView> BundleReader::blob(std::uint32_t index, std::string_view user) const {
  CLBIN_TRY_ASSIGN(const BlobView blob, m_tables->read<BlobView>(index, user));
  const std::string origin = origin_of(SectionKind::blob, index);
  const std::uint64_t available = m_tables->section_bytes(SectionKind::payload);
  if (blob.offset % k_alignment != 0 || blob.offset > available ||
      blob.stored_bytes > available - blob.offset) {
    return damaged(origin, "stored_bytes {} at offset {} are beyond the {} bytes of PAYLOAD",
                   blob.stored_bytes, blob.offset, available);
  }
  if (blob.raw_bytes == 0 || blob.stored_bytes == 0) {
    return damaged(origin, "stored_bytes {} and raw_bytes {} must not be 0", blob.stored_bytes,
                   blob.raw_bytes);
  }
  CLBIN_TRY(check_codec(blob, is_encrypted(), origin));
  const std::uint32_t count = blob_count();
  if (blob.has_reference() && (blob.reference >= count || blob.reference == index)) {
    return damaged(origin, "reference {} is itself or beyond the {} of the table", blob.reference,
                   count);
  }
  return blob;
}

Result<void> BundleReader::check_unlocked(const BlobView& blob, std::string_view origin) const {
  if (static_cast<BlobCodec>(blob.codec) != BlobCodec::zstd_encrypted || m_key != nullptr) {
    return {};
  }
  return fail(ErrorCode::encrypted, "{} is encrypted, and {}", origin,
              is_encrypted() ? "no key was given" : "the bundle has no section KEYS");
}

Result<void> BundleReader::check_blob_limits(const BlobView& blob, std::string_view origin) const {
  CLBIN_TRY(check_unlocked(blob, origin));
  if (blob.raw_bytes > m_limits.max_raw_bytes) {
    return fail(ErrorCode::limit_exceeded, "{}: raw_bytes {} is above the limit of {} bytes",
                origin, blob.raw_bytes, m_limits.max_raw_bytes);
  }
  return {};
}

Result<std::optional<BlobView>> BundleReader::reference_of(const BlobView& blob,
                                                           std::string_view origin) const {
  if (!blob.has_reference()) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(const BlobView referred, this->blob(blob.reference, origin));
  if (referred.has_reference()) {
    return damaged(origin, "its reference {} has a reference itself", blob.reference);
  }
  return referred;
}

Result<std::uint32_t> BundleReader::find_blob(const Digest& raw_digest) const {
  const Digest wanted = table_digest(raw_digest);
  std::uint32_t first = 0;
  std::uint32_t end = blob_count();
  while (first < end) {
    const std::uint32_t middle = first + (end - first) / 2;
    CLBIN_TRY_ASSIGN(const BlobView blob, this->blob(middle));
    if (blob.raw_digest == wanted) {
      return middle;
    }
    (blob.raw_digest < wanted ? first : end) = blob.raw_digest < wanted ? middle + 1 : middle;
  }
  return fail(ErrorCode::damaged, "no blob has the digest {}", base::to_hex(raw_digest));
}

Result<std::uint32_t> BundleReader::find_data(const KnownAnswer& answer,
                                              const NamedData& data) const {
  const std::string origin =
      fmt::format("the data of argument {} of a recorded launch of kernel '{}'", data.argument,
                  base::printable_excerpt(answer.kernel));
  CLBIN_TRY_ASSIGN(const std::uint32_t index, base::in_context(find_blob(data.digest), origin));
  CLBIN_TRY_ASSIGN(const BlobView blob, this->blob(index, origin));
  return blob.raw_bytes == data.bytes
             ? Result<std::uint32_t>(index)
             : damaged(origin, "they have {} bytes, not {}", blob.raw_bytes, data.bytes);
}

Result<std::vector<Bytes>> BundleReader::read_data(KnownAnswer& answer, ReadBudget& budget) const {
  std::vector<Bytes> before;
  auto result = answer.results.begin();
  for (const NamedData& data : data_of(answer)) {
    CLBIN_TRY_ASSIGN(const std::uint32_t index, find_data(answer, data));
    CLBIN_TRY_ASSIGN(Bytes bytes, read_blob(index, &budget));
    if (!data.is_result) {
      before.push_back(std::move(bytes));
      continue;
    }
    while (result->argument != data.argument) {
      ++result;
    }
    result->contents = std::move(bytes);
    result->digest.clear();
  }
  return before;
}

// Returns a blob whose frame can be read and decompressed.
Result<BlobView> BundleReader::readable_blob(std::uint32_t index, std::string_view user) const {
  const std::string origin = origin_of(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, blob(index, user));
  CLBIN_TRY(check_blob_limits(blob, origin));
  CLBIN_TRY_ASSIGN(const auto referred, reference_of(blob, origin));
  if (!referred) {
    return blob;
  }
  if (blob.raw_bytes > k_max_window_bytes ||
      referred->raw_bytes > k_max_window_bytes - blob.raw_bytes) {
    return damaged(origin, "raw_bytes {} and the {} of its reference are above {}", blob.raw_bytes,
                   referred->raw_bytes, k_max_window_bytes);
  }
  CLBIN_TRY(check_blob_limits(*referred, origin_of(SectionKind::blob, blob.reference)));
  return blob;
}

Result<ByteRegion> BundleReader::stored(const BlobView& blob, std::string_view origin) const {
  const std::uint64_t start = m_tables->directory().section(SectionKind::payload).record.offset;
  CLBIN_TRY_ASSIGN(ByteRegion region,
                   m_tables->source().read(start + blob.offset, blob.stored_bytes, origin));
  if (base::digest_of(region.view()) != blob.stored_digest) {
    return fail(ErrorCode::digest_mismatch, "{}: stored_digest does not match: it was changed",
                origin);
  }
  return region;
}

// Returns the frame, decrypted. Its tag matched: whatever decompresses it gets what was encrypted.
Result<ByteRegion> BundleReader::frame(const BlobView& blob, std::string_view origin) const {
  CLBIN_TRY_ASSIGN(ByteRegion region, stored(blob, origin));
  if (static_cast<BlobCodec>(blob.codec) != BlobCodec::zstd_encrypted) {
    return region;
  }
  CLBIN_TRY_ASSIGN(const auto reference, reference_of(blob, origin));
  std::optional<Bytes> plain = m_key->decrypt(
      binding_of(blob.raw_digest, blob.raw_bytes, reference ? reference->raw_digest : Digest()),
      region.view());
  if (!plain && !m_key->is_present()) {
    return fail(
        ErrorCode::encrypted,
        "{} is encrypted, and a child of fork() does not get the key: open the bundle again",
        origin);
  }
  if (!plain) {
    return fail(ErrorCode::digest_mismatch, "{}: its tag does not match: it was changed", origin);
  }
  return ByteRegion::own(std::move(*plain));
}

// `decompressor` is not used if the frame is not compressed.
Result<Bytes> BundleReader::raw_against(const BlobView& blob, std::string_view origin,
                                        ByteView frame, ByteView reference,
                                        base::ZstdDecompressor& decompressor) const {
  if (content_codec(blob) == BlobCodec::stored) {
    return Bytes(frame.begin(), frame.end());
  }
  ++*m_decompressed;
  return base::in_context(decompressor.decompress(frame, reference, blob.raw_bytes), origin);
}

ReadBudget BundleReader::budget() const noexcept {
  const ReadBudget usual = ReadBudget::for_bundle(total_bytes());
  return {m_limits.max_memory_bytes != 0 ? m_limits.max_memory_bytes : usual.memory_limit(),
          m_limits.max_total_raw_bytes != 0 ? m_limits.max_total_raw_bytes : usual.raw_limit()};
}

Result<Bytes> BundleReader::read_blob(std::uint32_t index, ReadBudget* budget,
                                      std::string_view user) const {
  ReadBudget own = this->budget();
  ReadBudget& spent = budget == nullptr ? own : *budget;
  const std::string origin = origin_of(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, readable_blob(index, user));
  CLBIN_TRY(spent.take_raw(std::max(blob.raw_bytes, blob.stored_bytes), origin));
  CLBIN_TRY_ASSIGN(const ByteRegion own_frame, frame(blob, origin));
  Bytes reference;
  if (blob.has_reference()) { // which has none itself
    CLBIN_TRY_ASSIGN(reference, read_blob(blob.reference, &spent, origin));
  }
  base::ZstdDecompressor decompressor;
  return raw_against(blob, origin, own_frame.view(), reference, decompressor);
}

Result<ByteRegion> BundleReader::read_frame(std::uint32_t index) const {
  CLBIN_TRY_ASSIGN(const BlobView blob, this->blob(index));
  const std::string origin = origin_of(SectionKind::blob, index);
  CLBIN_TRY(check_blob_limits(blob, origin));
  return frame(blob, origin);
}

Result<ByteRegion> BundleReader::read_stored(std::uint32_t index) const {
  CLBIN_TRY_ASSIGN(const BlobView blob, this->blob(index));
  return stored(blob, origin_of(SectionKind::blob, index));
}

Result<Bytes> BundleReader::decompress(std::uint32_t index, ByteView frame, ByteView reference,
                                       base::ZstdDecompressor& decompressor) const {
  CLBIN_TRY_ASSIGN(const BlobView blob, readable_blob(index));
  return raw_against(blob, origin_of(SectionKind::blob, index), frame,
                     blob.has_reference() ? reference : ByteView(), decompressor);
}

// Reads and decodes a blob that is not a payload. Its memory is counted until it is decoded.
template <typename Decode>
std::invoke_result_t<Decode, ByteView, ReadBudget*>
BundleReader::decoded(std::uint32_t index, std::uint64_t raw_bytes, const std::string& origin,
                      ReadBudget& budget, const Decode& decode) const {
  CLBIN_TRY(budget.take_memory(raw_bytes, origin));
  CLBIN_TRY_ASSIGN(const Bytes bytes, read_blob(index, &budget, origin));
  auto value = decode(bytes, &budget);
  budget.return_memory(raw_bytes);
  return base::in_context(std::move(value), origin);
}

Result<Manifest> BundleReader::decode_manifest_of(const GroupView& group,
                                                  ReadBudget& budget) const {
  const std::string origin = fmt::format("manifest of program '{}'", told(group.program));
  CLBIN_TRY_ASSIGN(const BlobView blob, blob(group.manifest_blob, origin));
  CLBIN_TRY(check_unlocked(blob, origin));
  return decoded(group.manifest_blob, blob.raw_bytes, origin, budget, decode_manifest);
}

Result<Manifest> BundleReader::read_manifest(const GroupView& group, ReadBudget* budget) const {
  ReadBudget own = this->budget();
  CLBIN_TRY_ASSIGN(Manifest manifest, decode_manifest_of(group, budget == nullptr ? own : *budget));
  CLBIN_TRY(ManifestCheck(*this, manifest).check(group));
  return manifest;
}

Result<SourcePackage> BundleReader::read_source(const GroupView& group, ReadBudget* budget) const {
  if (group.source_blob == k_no_index) {
    return fail(ErrorCode::no_source, "the bundle does not contain the source of program '{}'",
                group.program);
  }
  const std::string origin = fmt::format("source of program '{}'", told(group.program));
  ReadBudget own = this->budget();
  ReadBudget& spent = budget == nullptr ? own : *budget;
  CLBIN_TRY_ASSIGN(const BlobView blob, blob(group.source_blob, origin));
  CLBIN_TRY(check_unlocked(blob, origin));
  CLBIN_TRY(check_blob_limits(blob, origin_of(SectionKind::blob, group.source_blob)));
  return decoded(group.source_blob, blob.raw_bytes, origin, spent, decode_source_package);
}

Result<void> TextBudget::take(const EntryView& entry) {
  std::uint64_t bytes = std::uint64_t{entry.options.size()} + entry.target.platform_name.size() +
                        entry.target.device_name.size() + entry.target.driver_version.size() +
                        entry.target.spec.size();
  for (const std::string& kernel : entry.kernels) {
    bytes += sizeof(std::string) + kernel.size();
  }
  return take(bytes);
}

Result<void> TextBudget::take(std::uint64_t bytes) {
  if (bytes > m_left) {
    return fail(ErrorCode::limit_exceeded, "the texts of its records exceed {} bytes", m_limit);
  }
  m_left -= bytes;
  return {};
}

} // namespace clbin::format
