#include "format/bundle/signatures.hpp"

#include "format/bundle/bundle_tables.hpp"

#include <tuple>

namespace clbin::format {

using base::PublicKey;

namespace {

constexpr std::string_view k_signature_context = "clbin-sig-1";
constexpr std::string_view k_counter_context = "clbin-counter-1";
constexpr std::string_view k_vouch_context = "clbin-vouch-1";

struct TrailingTraits {
  TrailingKind kind;
  std::string_view noun;
  std::uint64_t bytes;
  std::size_t subject_bytes; // at the start; they distinguish the record from others of its kind
};

constexpr TrailingTraits k_trailing_kinds[] = {
    {TrailingKind::ed25519_signature, "signature", 96, sizeof(PublicKey)},
    {TrailingKind::counter, "counter", 104, sizeof(PublicKey)},
    {TrailingKind::vouch, "vouch", 128, 2 * sizeof(PublicKey)},
};

// Returns null for a kind that this version does not know.
const TrailingTraits* traits_of(std::uint32_t kind) noexcept {
  const auto* const found =
      std::ranges::find(k_trailing_kinds, static_cast<TrailingKind>(kind), &TrailingTraits::kind);
  return found == std::end(k_trailing_kinds) ? nullptr : found;
}

bool is_known(const TrailingRecord& record) noexcept {
  return traits_of(record.kind) != nullptr;
}

ByteWriter message_of(std::string_view context, ByteView subject) {
  ByteWriter writer;
  writer.write_bytes(base::as_bytes(context));
  writer.write_bytes(subject);
  return writer;
}

struct Head {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t bytes = 0;
};
CLBIN_VISIT(Head, kind, flags, bytes);

Result<void> check_kind(const Head& head, std::string_view origin) {
  const TrailingTraits* const known = traits_of(head.kind);
  if (known != nullptr && head.bytes != known->bytes) {
    return damaged(origin, "a {} has {} bytes, not {}", known->noun, known->bytes, head.bytes);
  }
  if (known == nullptr && (head.flags & k_trailing_required) != 0) {
    return fail(ErrorCode::unknown_required_section,
                "{} is of kind {}, which is required and not known to this version", origin,
                head.kind);
  }
  return {};
}

// Reads the head of the record at `offset` and checks that the record ends before `end`.
Result<Head> read_head(const ByteSource& source, std::uint64_t offset, std::uint64_t end,
                       std::string_view origin) {
  if (end - offset < k_trailing_head_bytes) {
    return damaged(origin, "{} bytes are left, but its header has {}", end - offset,
                   k_trailing_head_bytes);
  }
  CLBIN_TRY_ASSIGN(const ByteRegion region, source.read(offset, k_trailing_head_bytes, origin));
  CLBIN_TRY_ASSIGN(const Head head, read_record<Head>(region.view(), origin));
  if (head.kind == 0 || (head.flags & ~k_trailing_required) != 0) {
    return damaged(origin, "kind {} with flags 0x{:x} is not allowed", head.kind, head.flags);
  }
  const std::uint64_t left = end - offset - k_trailing_head_bytes;
  if (head.bytes > left || padding_after(head.bytes) > left - head.bytes) {
    return damaged(origin, "bytes {} is beyond the {} left", head.bytes, left);
  }
  CLBIN_TRY(check_kind(head, origin));
  return head;
}

bool are_of_one_subject(const TrailingRecord& a, const TrailingRecord& b) {
  const TrailingTraits* const known = traits_of(a.kind);
  return known != nullptr && a.kind == b.kind && a.bytes.size() >= known->subject_bytes &&
         b.bytes.size() >= known->subject_bytes &&
         std::ranges::equal(ByteView(a.bytes).first(known->subject_bytes),
                            ByteView(b.bytes).first(known->subject_bytes));
}

// What a verifier requires. -----------------------------------------------------------------------

constexpr std::size_t k_max_listed_keys = 4;

// Returns the records of one kind whose bit 0 of the flags is clear.
template <Record Signed>
std::vector<Signed> all_signed(const std::vector<TrailingRecord>& records) {
  std::vector<Signed> found;
  for (const TrailingRecord& record : records) {
    const auto read = read_signed<Signed>(record);
    if (read && (record.flags & k_trailing_required) == 0) {
      found.push_back(*read);
    }
  }
  return found;
}

const PublicKey& signer_of(const auto& record) {
  return record.key;
}
const PublicKey& signer_of(const VouchRecord& record) {
  return record.old_key;
}

template <Record Signed>
Result<void> require_hold(const Signed& record, const Digest& root) {
  if (!holds(record, root)) {
    return fail(ErrorCode::bad_signature, "the {} by key {} does not hold",
                traits_of(static_cast<std::uint32_t>(Signed::k_kind))->noun,
                to_hex(signer_of(record)));
  }
  return {};
}

template <Record Signed>
Result<void> require_all_hold(const Digest& root, const std::vector<TrailingRecord>& records) {
  for (const Signed& record : all_signed<Signed>(records)) {
    CLBIN_TRY(require_hold(record, root));
  }
  return {};
}

bool contains(const std::vector<PublicKey>& keys, const PublicKey& key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Adds the keys that trusted keys vouch for, those that these vouch for, and so on. Each vouch is
// used once, so that a cycle ends.
Result<std::vector<PublicKey>> trusted_keys(std::vector<VouchRecord> vouches,
                                            std::vector<PublicKey> keys, const Digest& root) {
  const auto is_of_trusted = [&keys](const VouchRecord& vouch) {
    return contains(keys, vouch.old_key);
  };
  for (auto vouch = std::ranges::find_if(vouches, is_of_trusted); vouch != vouches.end();
       vouch = std::ranges::find_if(vouches, is_of_trusted)) {
    CLBIN_TRY(require_hold(*vouch, root));
    keys.push_back(vouch->new_key);
    vouches.erase(vouch);
  }
  return keys;
}

Result<void> check_signature_records(const Digest& root,
                                     const std::vector<SignatureRecord>& signatures,
                                     const std::vector<PublicKey>& keys) {
  std::string others;
  std::size_t other_count = 0;
  for (const SignatureRecord& signature : signatures) {
    if (!contains(keys, signature.key)) {
      if (other_count < k_max_listed_keys) {
        others += (others.empty() ? "" : ", ") + to_hex(signature.key);
      }
      ++other_count;
    } else {
      CLBIN_TRY(require_hold(signature, root));
    }
  }
  if (other_count < signatures.size()) {
    return {};
  }
  if (other_count > k_max_listed_keys) {
    others += fmt::format(" and {} more", other_count - k_max_listed_keys);
  }
  return fail(ErrorCode::untrusted_key, "the bundle is signed by no trusted key, but by {}",
              others);
}

Result<std::uint64_t> check_counters(const Digest& root, const std::vector<CounterRecord>& counters,
                                     const std::vector<PublicKey>& keys, std::uint64_t least) {
  std::optional<std::uint64_t> highest;
  for (const CounterRecord& counter : counters) {
    if (!contains(keys, counter.key)) {
      continue;
    }
    CLBIN_TRY(require_hold(counter, root));
    highest = std::max(highest.value_or(0), counter.counter);
  }
  if (least == 0) {
    return highest.value_or(0);
  }
  if (!highest.has_value()) {
    return fail(ErrorCode::old_counter,
                "the bundle has no counter by a trusted key, and {} is the least one accepted",
                least);
  }
  if (*highest < least) {
    return fail(ErrorCode::old_counter, "the counter is {}, and {} is the least one accepted",
                *highest, least);
  }
  return *highest;
}

} // namespace

Bytes signature_message(const Digest& root) {
  return message_of(k_signature_context, root.bytes).take();
}

Bytes counter_message(const Digest& root, std::uint64_t counter) {
  ByteWriter writer = message_of(k_counter_context, root.bytes);
  writer.write_u64(counter);
  return std::move(writer).take();
}

Bytes vouch_message(const PublicKey& new_key) {
  return message_of(k_vouch_context, new_key.bytes).take();
}

Result<void> check_padding(const ByteSource& source, std::uint64_t offset, std::uint64_t padding,
                           std::string_view origin) {
  CLBIN_TRY_ASSIGN(const ByteRegion bytes, source.read(offset, padding, origin));
  ByteReader reader(bytes.view(), origin);
  return reader.require_zero(bytes.view().size(), "padding");
}

Result<std::vector<TrailingRecord>>
read_trailing_records(const ByteSource& source, const Prefix& prefix, RecordSelection selection) {
  std::vector<TrailingRecord> records;
  std::uint64_t offset = prefix.body_bytes;
  for (std::uint32_t i = 0; offset < prefix.total_bytes; ++i) {
    if (i == k_max_trailing_records) {
      return fail(ErrorCode::damaged, "more than {} trailing records", k_max_trailing_records);
    }
    const std::string origin = fmt::format("trailing record {}", i);
    CLBIN_TRY_ASSIGN(const Head head, read_head(source, offset, prefix.total_bytes, origin));
    offset += k_trailing_head_bytes;
    const bool is_selected =
        selection == RecordSelection::all ||
        (selection == RecordSelection::known && traits_of(head.kind) != nullptr);
    if (is_selected) {
      CLBIN_TRY_ASSIGN(const ByteRegion region, source.read(offset, head.bytes, origin));
      records.push_back({head.kind, head.flags, {region.view().begin(), region.view().end()}});
    }
    offset += head.bytes;
    CLBIN_TRY(check_padding(source, offset, padding_after(head.bytes), origin));
    offset += padding_after(head.bytes);
  }
  return records;
}

void put_record(std::vector<TrailingRecord>& records, TrailingRecord record) {
  std::erase_if(records, [&record](const TrailingRecord& other) {
    return are_of_one_subject(record, other);
  });
  records.push_back(std::move(record));
}

void remove_signatures(std::vector<TrailingRecord>& records) {
  std::erase_if(records, is_known);
}

Result<Bytes> with_trailing_records(ByteView bundle, std::vector<TrailingRecord> records) {
  if (records.size() > k_max_trailing_records) {
    return fail(ErrorCode::invalid_argument,
                "a bundle has at most {} trailing records, and this one would have {}",
                k_max_trailing_records, records.size());
  }
  CLBIN_TRY_ASSIGN(const OpenedDirectory opened,
                   open_directory(*base::memory_source(bundle), {}, TrailingBytes::refuse));
  const auto others = std::stable_partition(records.begin(), records.end(), is_known);
  std::ranges::sort(records.begin(), others, {}, [](const TrailingRecord& record) {
    return std::tie(record.kind, record.bytes, record.flags);
  });
  ByteWriter tail;
  for (const TrailingRecord& record : records) {
    write_record(tail, Head{record.kind, record.flags, record.bytes.size()});
    tail.write_bytes(record.bytes);
    tail.align(k_alignment);
  }
  Prefix prefix = opened.prefix;
  prefix.total_bytes = prefix.body_bytes + tail.size();
  ByteWriter writer;
  write_prefix(writer, prefix);
  writer.write_bytes(
      bundle.subspan(k_prefix_bytes, static_cast<std::size_t>(prefix.body_bytes) - k_prefix_bytes));
  writer.write_bytes(tail.view());
  return std::move(writer).take();
}

Result<std::uint64_t> check_signatures(const Digest& root,
                                       const std::vector<TrailingRecord>& records,
                                       const SignaturePolicy& policy) {
  const auto signatures = all_signed<SignatureRecord>(records);
  if (signatures.empty()) {
    return fail(ErrorCode::not_signed, "a signature is required, and the bundle has none");
  }
  CLBIN_TRY_ASSIGN(const std::vector<PublicKey> keys,
                   trusted_keys(all_signed<VouchRecord>(records), policy.keys, root));
  CLBIN_TRY(check_signature_records(root, signatures, keys));
  return check_counters(root, all_signed<CounterRecord>(records), keys, policy.least_counter);
}

Result<void> check_every_signature(const Digest& root, const std::vector<TrailingRecord>& records) {
  CLBIN_TRY(require_all_hold<SignatureRecord>(root, records));
  CLBIN_TRY(require_all_hold<CounterRecord>(root, records));
  return require_all_hold<VouchRecord>(root, records);
}

} // namespace clbin::format
