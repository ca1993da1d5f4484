#include "format/bundle/bundle_reader.hpp"

#include "base/crypto/key_text.hpp"
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_verify.hpp"
#include "format/bundle/signature_policy.hpp"
#include "format/bundle/source_package.hpp"
#include "format/bundle/table_pages.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <unordered_set>

namespace clbin::format {

using base::ByteRegion;
using base::Bytes;
using base::ByteView;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t k_max_listed_names = 8;
constexpr std::string_view k_caller = "look-up";

std::string record_origin(SectionKind kind, std::uint32_t index) {
  return fmt::format("{} {}", record_name(kind), index);
}

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
  const bool has_reference = blob.reference != k_no_index;
  const bool is_frame = blob.stored_bytes > k_added && blob.stored_bytes - k_added < blob.raw_bytes;
  const bool is_raw = blob.stored_bytes >= k_added &&
                      blob.stored_bytes - k_added == blob.raw_bytes && !has_reference;
  if (!is_frame && !is_raw) {
    return fail(ErrorCode::damaged, "{}: codec 2 with stored_bytes {}, raw_bytes {}{}", origin,
                blob.stored_bytes, blob.raw_bytes, has_reference ? " and a reference" : "");
  }
  return {};
}

Result<void> check_codec(const BlobView& blob, bool has_keys, std::string_view origin) {
  const bool has_reference = blob.reference != k_no_index;
  const auto codec = static_cast<BlobCodec>(blob.codec);
  if (has_keys && codec != BlobCodec::zstd_encrypted) {
    return fail(ErrorCode::damaged, "{}: codec is {}, but the bundle is encrypted", origin,
                blob.codec);
  }
  switch (codec) {
  case BlobCodec::stored:
    if (blob.stored_bytes != blob.raw_bytes || has_reference) {
      return fail(ErrorCode::damaged,
                  "{}: codec 0 with stored_bytes {}, raw_bytes {} or a reference", origin,
                  blob.stored_bytes, blob.raw_bytes);
    }
    return {};
  case BlobCodec::zstd:
    if (blob.stored_bytes >= blob.raw_bytes) {
      return fail(ErrorCode::damaged, "{}: stored_bytes {} is not below raw_bytes {}", origin,
                  blob.stored_bytes, blob.raw_bytes);
    }
    return {};
  case BlobCodec::zstd_encrypted:
    return has_keys ? check_encrypted_size(blob, origin) : Result<void>();
  }
  return fail(ErrorCode::damaged, "{}: codec {} is not known", origin, blob.codec);
}

} // namespace

std::string describe(const EntryView& entry) {
  const bool is_made_here = entry.target.origin == TargetOrigin::installed_device;
  return describe(info_from_match_key(entry.match_key),
                  is_made_here ? told(entry.target.platform_name) : std::string());
}

struct BundleReader::State {
  State(std::shared_ptr<const base::ByteSource> source, OpenedDirectory opened,
        const ReadLimits& read_limits)
      : prefix(opened.prefix), limits(read_limits),
        tables(std::move(source), std::move(opened.directory)), counter(opened.counter) {}

  [[nodiscard]] Result<GroupRecord> group_record(std::uint32_t index) const;
  [[nodiscard]] Result<GroupView> group_view(std::uint32_t index) const;
  [[nodiscard]] Result<std::uint32_t> group_of_entry(std::uint32_t entry) const;
  [[nodiscard]] Result<EntryRecord> entry_record(std::uint32_t index, std::string_view user) const;
  [[nodiscard]] Result<EntryView> entry_view(std::uint32_t index, std::uint32_t group) const;
  [[nodiscard]] Result<TargetRecord> target_record(std::uint32_t index,
                                                   std::string_view user) const;
  [[nodiscard]] Result<TargetView> target_view(std::uint32_t index, std::string_view user) const;
  [[nodiscard]] Result<void> check_index(SectionKind kind, std::uint32_t index) const;
  [[nodiscard]] Result<void> check_range(const GroupView& group) const;
  [[nodiscard]] tl::unexpected<base::Error> no_such_group(std::string_view program,
                                                          std::string_view variant) const;

  [[nodiscard]] Result<BlobView> blob_view(std::uint32_t index, std::string_view user) const;
  [[nodiscard]] Result<void> check_unlocked(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<void> check_blob_limits(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<void> check_reference(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<ByteRegion> stored(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<ByteRegion> frame(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<Bytes> raw_bytes(std::uint32_t index, std::string_view user,
                                        ReadBudget& budget) const;
  [[nodiscard]] Result<Bytes> raw_against(const BlobView& blob, std::string_view origin,
                                          ByteView stored, ByteView reference) const;
  struct Decompression {
    std::string_view origin;
    base::ZstdDecompressor& decompressor;
    std::uint64_t& decompressed_frames;
  };
  [[nodiscard]] static Result<Bytes> raw_bytes_of(const BlobView& blob, ByteView stored,
                                                  ByteView reference, const Decompression& how);

  Prefix prefix;
  ReadLimits limits;
  TablePages tables;
  bool is_trusted = false;
  std::uint64_t counter = 0;
  std::shared_ptr<const base::ContentKey> key; // null until the bundle is unlocked
  mutable std::atomic<std::uint64_t> decompressed{0};
};

Result<GroupRecord> BundleReader::State::group_record(std::uint32_t index) const {
  CLBIN_TRY_ASSIGN(const PageSlice slice, tables.record(SectionKind::group, index, k_caller));
  const std::string origin = record_origin(SectionKind::group, index);
  CLBIN_TRY_ASSIGN(const GroupRecord record, read_group_record(slice.bytes, origin));
  const std::uint32_t entries = tables.count(SectionKind::entry);
  if (record.first_entry > entries || record.entry_count > entries - record.first_entry) {
    return fail(ErrorCode::damaged, "{}: {} entries from {} on are beyond the {} of the table",
                origin, record.entry_count, record.first_entry, entries);
  }
  return record;
}

Result<GroupView> BundleReader::State::group_view(std::uint32_t index) const {
  CLBIN_TRY_ASSIGN(const GroupRecord record, group_record(index));
  const std::string origin = record_origin(SectionKind::group, index);
  GroupView view;
  view.index = index;
  CLBIN_TRY_ASSIGN(view.program, tables.shared_text(record.program, origin, "program"));
  CLBIN_TRY_ASSIGN(view.variant, tables.shared_text(record.variant, origin, "variant"));
  CLBIN_TRY_ASSIGN(view.options, tables.shared_text(record.options, origin, "options"));
  view.first_entry = record.first_entry;
  view.entry_count = record.entry_count;
  view.source_blob = record.source_blob;
  view.manifest_blob = record.manifest_blob;
  return view;
}

// Searches the ranges of GROUP, which cover ENTRY without gaps or overlaps.
Result<std::uint32_t> BundleReader::State::group_of_entry(std::uint32_t entry) const {
  std::uint32_t low = 0;
  std::uint32_t high = tables.count(SectionKind::group);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    CLBIN_TRY_ASSIGN(const GroupRecord record, group_record(middle));
    if (entry < record.first_entry) {
      high = middle;
    } else if (entry - record.first_entry < record.entry_count) {
      return middle;
    } else {
      low = middle + 1;
    }
  }
  return fail(ErrorCode::damaged, "{}: no group contains it",
              record_origin(SectionKind::entry, entry));
}

Result<EntryRecord> BundleReader::State::entry_record(std::uint32_t index,
                                                      std::string_view user) const {
  CLBIN_TRY_ASSIGN(const PageSlice slice, tables.record(SectionKind::entry, index, user));
  return read_entry_record(slice.bytes, record_origin(SectionKind::entry, index));
}

Result<TargetRecord> BundleReader::State::target_record(std::uint32_t index,
                                                        std::string_view user) const {
  CLBIN_TRY_ASSIGN(const PageSlice slice, tables.record(SectionKind::target, index, user));
  return read_target_record(slice.bytes, record_origin(SectionKind::target, index));
}

Result<TargetView> BundleReader::State::target_view(std::uint32_t index,
                                                    std::string_view user) const {
  CLBIN_TRY_ASSIGN(const TargetRecord record, target_record(index, user));
  const std::string origin = record_origin(SectionKind::target, index);
  TargetView view;
  view.origin = (record.flags & k_target_offline) != 0 ? TargetOrigin::offline
                                                       : TargetOrigin::installed_device;
  view.family = static_cast<DeviceFamily>(record.family);
  view.digest = record.digest;
  CLBIN_TRY_ASSIGN(view.platform_name,
                   tables.shared_text(record.platform_name, origin, "platform_name"));
  CLBIN_TRY_ASSIGN(view.device_name, tables.shared_text(record.device_name, origin, "device_name"));
  CLBIN_TRY_ASSIGN(view.driver_version,
                   tables.shared_text(record.driver_version, origin, "driver_version"));
  CLBIN_TRY_ASSIGN(view.spec, tables.shared_text(record.spec, origin, "spec"));
  return view;
}

Result<EntryView> BundleReader::State::entry_view(std::uint32_t index, std::uint32_t group) const {
  CLBIN_TRY_ASSIGN(const EntryRecord record, entry_record(index, k_caller));
  const std::string origin = record_origin(SectionKind::entry, index);
  if (record.blob >= tables.count(SectionKind::blob)) {
    return fail(ErrorCode::damaged, "{}: blob {} is beyond the {} of the table", origin,
                record.blob, tables.count(SectionKind::blob));
  }
  EntryView view;
  view.index = index;
  view.group = group;
  CLBIN_TRY_ASSIGN(view.target, target_view(record.target, origin));
  view.match_key = record.match_key;
  view.kind = static_cast<BinaryKind>(record.kind);
  view.type = static_cast<PayloadType>(record.type);
  view.address_bits = record.address_bits;
  view.blob = record.blob;
  view.manifest_row = record.manifest_row;
  CLBIN_TRY_ASSIGN(view.kernels, tables.shared_names(record.kernels, origin, "kernels"));
  CLBIN_TRY_ASSIGN(view.options, tables.shared_text(record.options, origin, "options"));
  return view;
}

// Checks an index that comes from the caller, not from the bundle.
Result<void> BundleReader::State::check_index(SectionKind kind, std::uint32_t index) const {
  if (index >= tables.count(kind)) {
    return fail(ErrorCode::invalid_argument, "there is no {}: the bundle has {}",
                record_origin(kind, index), tables.count(kind));
  }
  return {};
}

// Checks a GroupView that comes from the caller, because it may belong to another bundle.
Result<void> BundleReader::State::check_range(const GroupView& group) const {
  const std::uint32_t entries = tables.count(SectionKind::entry);
  if (group.first_entry > entries || group.entry_count > entries - group.first_entry) {
    return fail(ErrorCode::invalid_argument, "group '{}' is not one of this bundle", group.program);
  }
  return {};
}

tl::unexpected<base::Error> BundleReader::State::no_such_group(std::string_view program,
                                                               std::string_view variant) const {
  std::set<SharedText> programs;
  std::set<SharedText> variants;
  std::unordered_set<const void*> seen; // avoids repeated comparisons of the same object
  for (std::uint32_t i = 0; i < tables.count(SectionKind::group); ++i) {
    auto group = group_view(i);
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

Result<BlobView> BundleReader::State::blob_view(std::uint32_t index, std::string_view user) const {
  CLBIN_TRY_ASSIGN(const PageSlice slice, tables.record(SectionKind::blob, index, user));
  const std::string origin = record_origin(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, read_blob_record(slice.bytes, origin));
  const std::uint64_t available = tables.section_bytes(SectionKind::payload);
  if (blob.offset % k_alignment != 0 || blob.offset > available ||
      blob.stored_bytes > available - blob.offset) {
    return fail(ErrorCode::damaged,
                "{}: stored_bytes {} at offset {} are beyond the {} bytes of PAYLOAD", origin,
                blob.stored_bytes, blob.offset, available);
  }
  if (blob.raw_bytes == 0 || blob.stored_bytes == 0) {
    return fail(ErrorCode::damaged, "{}: stored_bytes {} and raw_bytes {} must not be 0", origin,
                blob.stored_bytes, blob.raw_bytes);
  }
  CLBIN_TRY(check_codec(blob, tables.directory().has_keys(), origin));
  const std::uint32_t count = tables.count(SectionKind::blob);
  if (blob.reference != k_no_index && (blob.reference >= count || blob.reference == index)) {
    return fail(ErrorCode::damaged, "{}: reference {} is itself or beyond the {} of the table",
                origin, blob.reference, count);
  }
  return blob;
}

Result<void> BundleReader::State::check_unlocked(const BlobView& blob,
                                                 std::string_view origin) const {
  if (static_cast<BlobCodec>(blob.codec) != BlobCodec::zstd_encrypted || key != nullptr) {
    return {};
  }
  return fail(ErrorCode::encrypted, "{} is encrypted, and {}", origin,
              tables.directory().has_keys() ? "no key was given"
                                            : "the bundle has no section KEYS");
}

Result<void> BundleReader::State::check_blob_limits(const BlobView& blob,
                                                    std::string_view origin) const {
  CLBIN_TRY(check_unlocked(blob, origin));
  if (blob.raw_bytes > limits.max_raw_bytes) {
    return fail(ErrorCode::limit_exceeded, "{}: raw_bytes {} is above the limit of {} bytes",
                origin, blob.raw_bytes, limits.max_raw_bytes);
  }
  return {};
}

// References have only one level: the blob that is referred to must not have a reference.
Result<void> BundleReader::State::check_reference(const BlobView& blob,
                                                  std::string_view origin) const {
  if (blob.reference == k_no_index) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const BlobView referred, blob_view(blob.reference, origin));
  if (referred.reference != k_no_index) {
    return fail(ErrorCode::damaged, "{}: its reference {} has a reference itself", origin,
                blob.reference);
  }
  if (blob.raw_bytes > k_max_window_bytes ||
      referred.raw_bytes > k_max_window_bytes - blob.raw_bytes) {
    return fail(ErrorCode::damaged, "{}: raw_bytes {} and the {} of its reference are above {}",
                origin, blob.raw_bytes, referred.raw_bytes, k_max_window_bytes);
  }
  return check_blob_limits(referred, record_origin(SectionKind::blob, blob.reference));
}

Result<ByteRegion> BundleReader::State::stored(const BlobView& blob,
                                               std::string_view origin) const {
  const std::uint64_t start = tables.directory().section(SectionKind::payload).record.offset;
  CLBIN_TRY_ASSIGN(ByteRegion region,
                   tables.source().read(start + blob.offset, blob.stored_bytes, origin));
  if (base::digest_of(region.view()) != blob.stored_digest) {
    return fail(ErrorCode::digest_mismatch, "{}: stored_digest does not match: it was changed",
                origin);
  }
  return region;
}

// Returns the frame, decrypted. Its tag matched: whatever decompresses it gets what was encrypted.
Result<ByteRegion> BundleReader::State::frame(const BlobView& blob, std::string_view origin) const {
  CLBIN_TRY_ASSIGN(ByteRegion region, stored(blob, origin));
  if (static_cast<BlobCodec>(blob.codec) != BlobCodec::zstd_encrypted) {
    return region;
  }
  std::optional<Digest> reference;
  if (blob.reference != k_no_index) {
    CLBIN_TRY_ASSIGN(const BlobView referred, blob_view(blob.reference, origin));
    reference = referred.raw_digest;
  }
  std::optional<Bytes> plain =
      key->decrypt(binding_of(blob.raw_digest, blob.raw_bytes, reference), region.view());
  if (!plain && !key->is_present()) {
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

Result<Bytes> BundleReader::State::raw_against(const BlobView& blob, std::string_view origin,
                                               ByteView stored, ByteView reference) const {
  base::ZstdDecompressor decompressor;
  std::uint64_t frames = 0;
  auto raw = raw_bytes_of(blob, stored, reference, {origin, decompressor, frames});
  decompressed += frames;
  return raw;
}

Result<Bytes> BundleReader::State::raw_bytes_of(const BlobView& blob, ByteView stored,
                                                ByteView reference, const Decompression& how) {
  if (content_codec(blob) == BlobCodec::stored) {
    return Bytes(stored.begin(), stored.end());
  }
  ++how.decompressed_frames;
  auto raw = how.decompressor.decompress(stored, reference, blob.raw_bytes);
  if (!raw) {
    return base::add_context(std::move(raw.error()), how.origin);
  }
  return raw;
}

Result<Bytes> BundleReader::State::raw_bytes(std::uint32_t index, std::string_view user,
                                             ReadBudget& budget) const {
  const std::string origin = record_origin(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, blob_view(index, user));
  CLBIN_TRY(check_blob_limits(blob, origin));
  CLBIN_TRY(check_reference(blob, origin));
  CLBIN_TRY(budget.take_raw(std::max(blob.raw_bytes, blob.stored_bytes), origin));
  CLBIN_TRY_ASSIGN(const ByteRegion stored, frame(blob, origin));
  Bytes reference;
  if (blob.reference != k_no_index) {
    const std::string of_reference = record_origin(SectionKind::blob, blob.reference);
    CLBIN_TRY_ASSIGN(const BlobView referred, blob_view(blob.reference, origin));
    CLBIN_TRY(budget.take_raw(std::max(referred.raw_bytes, referred.stored_bytes), of_reference));
    CLBIN_TRY_ASSIGN(const ByteRegion its_frame, frame(referred, of_reference));
    CLBIN_TRY_ASSIGN(reference, raw_against(referred, of_reference, its_frame.view(), {}));
  }
  return raw_against(blob, origin, stored.view(), reference);
}

BundleReader::BundleReader(std::unique_ptr<State> state) : m_state(std::move(state)) {}
BundleReader::~BundleReader() = default;
BundleReader::BundleReader(BundleReader&&) noexcept = default;
BundleReader& BundleReader::operator=(BundleReader&&) noexcept = default;

Result<BundleReader> BundleReader::open(std::shared_ptr<const base::ByteSource> source,
                                        const ReadLimits& limits, TrailingBytes trailing) {
  CLBIN_TRY_ASSIGN(OpenedDirectory opened, open_directory(*source, limits, trailing));
  return BundleReader(std::make_unique<State>(std::move(source), std::move(opened), limits));
}

Result<BundleReader> BundleReader::open(std::shared_ptr<const base::ByteSource> source,
                                        const ReadLimits& limits, TrailingBytes trailing,
                                        const SignaturePolicy& required) {
  CLBIN_TRY_ASSIGN(OpenedDirectory opened, open_directory(*source, limits, trailing, &required));
  auto state = std::make_unique<State>(std::move(source), std::move(opened), limits);
  state->is_trusted = true;
  return BundleReader(std::move(state));
}

bool BundleReader::is_trusted() const noexcept {
  return m_state->is_trusted;
}

std::uint64_t BundleReader::counter() const noexcept {
  return m_state->counter;
}

Result<std::vector<TrailingRecord>> BundleReader::signature_records() const {
  return read_trailing_records(m_state->tables.source(), m_state->prefix, RecordSelection::known);
}

std::uint32_t BundleReader::group_count() const noexcept {
  return m_state->tables.count(SectionKind::group);
}

std::uint32_t BundleReader::entry_count() const noexcept {
  return m_state->tables.count(SectionKind::entry);
}

std::uint32_t BundleReader::blob_count() const noexcept {
  return m_state->tables.count(SectionKind::blob);
}

std::uint64_t BundleReader::total_bytes() const noexcept {
  return m_state->prefix.total_bytes;
}

const Digest& BundleReader::root_digest() const noexcept {
  return m_state->prefix.root;
}

const std::string& BundleReader::name() const noexcept {
  return m_state->tables.source().name();
}

std::pair<std::uint16_t, std::uint16_t> BundleReader::format_version() const noexcept {
  return {m_state->prefix.major, m_state->prefix.minor};
}

bool BundleReader::is_encrypted() const noexcept {
  return m_state->tables.directory().has_keys();
}

bool BundleReader::is_locked() const noexcept {
  return is_encrypted() && m_state->key == nullptr;
}

Result<std::vector<KeySlot>> BundleReader::key_slots() const {
  std::vector<KeySlot> slots;
  if (!is_encrypted()) {
    return slots;
  }
  for (std::uint32_t i = 0; i < m_state->tables.count(SectionKind::keys); ++i) {
    CLBIN_TRY_ASSIGN(const PageSlice slice, m_state->tables.record(SectionKind::keys, i, k_caller));
    CLBIN_TRY_ASSIGN(const KeySlot slot,
                     read_key_slot(slice.bytes, record_origin(SectionKind::keys, i)));
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
  m_state->key = std::move(key);
  return {};
}

const std::shared_ptr<const base::ContentKey>& BundleReader::content_key() const noexcept {
  return m_state->key;
}

Digest BundleReader::table_digest(const Digest& raw_digest) const noexcept {
  return is_encrypted() ? m_state->key->keyed(raw_digest) : raw_digest;
}

Result<GroupView> BundleReader::group(std::uint32_t index) const {
  CLBIN_TRY(m_state->check_index(SectionKind::group, index));
  return m_state->group_view(index);
}

Result<EntryView> BundleReader::entry(std::uint32_t index) const {
  CLBIN_TRY(m_state->check_index(SectionKind::entry, index));
  CLBIN_TRY_ASSIGN(const std::uint32_t group, m_state->group_of_entry(index));
  return m_state->entry_view(index, group);
}

Result<EntryView> BundleReader::entry(std::uint32_t index, const GroupView& group) const {
  if (index < group.first_entry || index - group.first_entry >= group.entry_count) {
    return fail(ErrorCode::invalid_argument, "entry {} is not one of group '{}', variant '{}'",
                index, group.program, group.variant);
  }
  return m_state->entry_view(index, group.index);
}

Result<BlobView> BundleReader::blob(std::uint32_t index) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  return m_state->blob_view(index, k_caller);
}

Result<GroupView> BundleReader::find_group(std::string_view program,
                                           std::string_view variant) const {
  const std::uint64_t hash = name_hash(program, variant);
  const std::uint32_t count = group_count();
  CLBIN_TRY_ASSIGN(std::uint32_t index,
                   m_state->tables.lower_bound(SectionKind::group, 0, count, hash));
  for (; index < count; ++index) {
    CLBIN_TRY_ASSIGN(const GroupRecord record, m_state->group_record(index));
    if (record.name_hash != hash) {
      break;
    }
    CLBIN_TRY_ASSIGN(GroupView group, m_state->group_view(index));
    if (group.program == program && group.variant == variant) {
      return group;
    }
  }
  return m_state->no_such_group(program, variant);
}

Result<std::vector<EntryView>> BundleReader::find_exact(const GroupView& group,
                                                        const Digest& target) const {
  CLBIN_TRY(m_state->check_range(group));
  const std::uint64_t key = base::leading_u64(target);
  const std::uint32_t end = group.first_entry + group.entry_count;
  const TablePages& tables = m_state->tables;
  CLBIN_TRY_ASSIGN(std::uint32_t index, tables.lower_bound(SectionKind::exact, group.first_entry,
                                                           group.entry_count, key));
  std::vector<EntryView> found;
  std::optional<std::uint32_t> last;
  for (; index < end; ++index) {
    const std::string origin = record_origin(SectionKind::exact, index);
    CLBIN_TRY_ASSIGN(const PageSlice slice, tables.record(SectionKind::exact, index, k_caller));
    CLBIN_TRY_ASSIGN(const ExactRecord exact, read_exact_record(slice.bytes, origin));
    if (exact.target_key != key) {
      break;
    }
    if (last.has_value() && exact.entry <= *last) {
      return fail(ErrorCode::damaged, "{}: it is out of order", origin);
    }
    last = exact.entry;
    if (exact.entry < group.first_entry || exact.entry >= end) {
      return fail(ErrorCode::damaged, "{}: entry {} is not one of its group", origin, exact.entry);
    }
    CLBIN_TRY_ASSIGN(const EntryRecord entry, m_state->entry_record(exact.entry, origin));
    CLBIN_TRY_ASSIGN(
        const TargetRecord made_for,
        m_state->target_record(entry.target, record_origin(SectionKind::entry, exact.entry)));
    if (made_for.digest == target) {
      const bool is_repeated =
          std::any_of(found.begin(), found.end(), [&entry](const EntryView& other) {
            return static_cast<std::uint16_t>(other.kind) == entry.kind;
          });
      if (is_repeated) {
        return fail(ErrorCode::damaged, "{}: an entry before it has the same target and kind",
                    record_origin(SectionKind::entry, exact.entry));
      }
      CLBIN_TRY_ASSIGN(EntryView view, m_state->entry_view(exact.entry, group.index));
      found.push_back(std::move(view));
    }
  }
  return found;
}

Result<EntryRange> BundleReader::find_key_range(const GroupView& group, std::uint64_t low,
                                                std::uint64_t high) const {
  CLBIN_TRY(m_state->check_range(group));
  if (low > high) {
    return EntryRange{group.first_entry, 0};
  }
  const TablePages& tables = m_state->tables;
  CLBIN_TRY_ASSIGN(const std::uint32_t first,
                   tables.lower_bound(SectionKind::entry, //
                                      group.first_entry, group.entry_count, low));
  const std::uint32_t left = group.entry_count - (first - group.first_entry);
  if (high == ~std::uint64_t{0}) {
    return EntryRange{first, left};
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t end,
                   tables.lower_bound(SectionKind::entry, first, left, high + 1));
  return EntryRange{first, end - first};
}

ReadBudget BundleReader::budget() const noexcept {
  const ReadLimits& limits = m_state->limits;
  const ReadBudget usual = ReadBudget::for_bundle(total_bytes());
  return {limits.max_memory_bytes != 0 ? limits.max_memory_bytes : usual.memory_limit(),
          limits.max_total_raw_bytes != 0 ? limits.max_total_raw_bytes : usual.raw_limit()};
}

Result<Bytes> BundleReader::read_blob(std::uint32_t index, ReadBudget* budget) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  ReadBudget own = this->budget();
  return m_state->raw_bytes(index, k_caller, budget == nullptr ? own : *budget);
}

Result<Bytes> BundleReader::read_against(std::uint32_t index, ByteView reference,
                                         ReadBudget& budget) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  const std::string origin = record_origin(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(index, k_caller));
  CLBIN_TRY(m_state->check_blob_limits(blob, origin));
  CLBIN_TRY(m_state->check_reference(blob, origin));
  CLBIN_TRY(budget.take_raw(std::max(blob.raw_bytes, blob.stored_bytes), origin));
  CLBIN_TRY_ASSIGN(const ByteRegion stored, m_state->frame(blob, origin));
  return m_state->raw_against(blob, origin, stored.view(), reference);
}

Result<ByteRegion> BundleReader::read_frame(std::uint32_t index) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  const std::string origin = record_origin(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(index, k_caller));
  CLBIN_TRY(m_state->check_blob_limits(blob, origin));
  return m_state->frame(blob, origin);
}

Result<ByteRegion> BundleReader::read_stored(std::uint32_t index) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(index, k_caller));
  return m_state->stored(blob, record_origin(SectionKind::blob, index));
}

Result<Bytes> BundleReader::decompress(std::uint32_t index, ByteView frame, ByteView reference,
                                       base::ZstdDecompressor& decompressor) const {
  CLBIN_TRY(m_state->check_index(SectionKind::blob, index));
  const std::string origin = record_origin(SectionKind::blob, index);
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(index, k_caller));
  CLBIN_TRY(m_state->check_blob_limits(blob, origin));
  CLBIN_TRY(m_state->check_reference(blob, origin));
  std::uint64_t frames = 0;
  const ByteView prefix = blob.reference == k_no_index ? ByteView() : reference;
  auto raw = State::raw_bytes_of(blob, frame, prefix, {origin, decompressor, frames});
  m_state->decompressed += frames;
  return raw;
}

Result<Manifest> BundleReader::decode_manifest_of(const GroupView& group,
                                                  ReadBudget& budget) const {
  const std::string origin = fmt::format("manifest of program '{}'", told(group.program));
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(group.manifest_blob, origin));
  CLBIN_TRY(m_state->check_unlocked(blob, origin));
  CLBIN_TRY(budget.take_memory(blob.raw_bytes, origin));
  CLBIN_TRY_ASSIGN(const Bytes json, m_state->raw_bytes(group.manifest_blob, origin, budget));
  auto manifest = decode_manifest(json, &budget);
  budget.return_memory(blob.raw_bytes);
  if (!manifest) {
    return base::add_context(std::move(manifest.error()), origin);
  }
  return manifest;
}

Result<Manifest> BundleReader::read_manifest(const GroupView& group, ReadBudget* budget) const {
  ReadBudget own = this->budget();
  CLBIN_TRY_ASSIGN(Manifest manifest, decode_manifest_of(group, budget == nullptr ? own : *budget));
  CLBIN_TRY(check_manifest(*this, group, manifest));
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
  CLBIN_TRY_ASSIGN(const BlobView blob, m_state->blob_view(group.source_blob, origin));
  CLBIN_TRY(m_state->check_unlocked(blob, origin));
  CLBIN_TRY(m_state->check_blob_limits(blob, record_origin(SectionKind::blob, group.source_blob)));
  CLBIN_TRY(spent.take_memory(blob.raw_bytes, origin));
  CLBIN_TRY_ASSIGN(const Bytes bytes, m_state->raw_bytes(group.source_blob, origin, spent));
  auto source = decode_source_package(bytes, &spent);
  spent.return_memory(blob.raw_bytes);
  if (!source) {
    return base::add_context(std::move(source.error()), origin);
  }
  return source;
}

Result<void> BundleReader::verify() const {
  if (m_state->is_trusted) {
    CLBIN_TRY_ASSIGN(const std::vector<TrailingRecord> records, signature_records());
    CLBIN_TRY(check_every_signature(root_digest(), records));
  }
  return verify_bundle(*this, m_state->tables);
}

std::uint64_t BundleReader::decompressed_count() const noexcept {
  return m_state->decompressed;
}

} // namespace clbin::format
