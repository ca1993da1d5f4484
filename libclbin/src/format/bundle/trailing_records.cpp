#include "format/bundle/trailing_records.hpp"

#include "format/bundle/bundle_directory.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

namespace clbin::format {

using base::ByteReader;
using base::ByteRegion;
using base::Bytes;
using base::ByteSource;
using base::ByteView;
using base::ByteWriter;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::PublicKey;
using base::Result;
using base::SecretKey;
using base::Signature;

namespace {

constexpr std::string_view k_signature_context = "clbin-sig-1";
constexpr std::string_view k_counter_context = "clbin-counter-1";
constexpr std::string_view k_vouch_context = "clbin-vouch-1";

std::optional<TrailingKind> known_kind(std::uint32_t kind) noexcept {
  switch (const auto known = static_cast<TrailingKind>(kind); known) {
  case TrailingKind::ed25519_signature:
  case TrailingKind::counter:
  case TrailingKind::vouch:
    return known;
  }
  return std::nullopt;
}

std::uint64_t bytes_of(TrailingKind kind) noexcept {
  switch (kind) {
  case TrailingKind::ed25519_signature:
    return k_ed25519_signature_bytes;
  case TrailingKind::counter:
    return k_counter_bytes;
  case TrailingKind::vouch:
    break;
  }
  return k_vouch_bytes;
}

std::string_view noun_of(TrailingKind kind) noexcept {
  switch (kind) {
  case TrailingKind::ed25519_signature:
    return "signature";
  case TrailingKind::counter:
    return "counter";
  case TrailingKind::vouch:
    break;
  }
  return "vouch";
}

// The leading bytes of a record that distinguish it from others of its kind.
std::size_t subject_bytes_of(TrailingKind kind) noexcept {
  return kind == TrailingKind::vouch ? 2 * sizeof(PublicKey) : sizeof(PublicKey);
}

Result<PublicKey> read_key(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(sizeof(PublicKey), field));
  PublicKey key;
  std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
  return key;
}

Result<Signature> read_signature(ByteReader& reader) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(sizeof(Signature), "signature"));
  Signature signature;
  std::copy(bytes.begin(), bytes.end(), signature.bytes.begin());
  return signature;
}

TrailingRecord record_of(TrailingKind kind, ByteWriter&& writer) {
  return {static_cast<std::uint32_t>(kind), 0, std::move(writer).take()};
}

Result<void> check_padding(const ByteSource& source, std::uint64_t offset, std::uint64_t padding,
                           std::string_view origin) {
  CLBIN_TRY_ASSIGN(const ByteRegion bytes, source.read(offset, padding, origin));
  ByteReader reader(bytes.view(), origin);
  return reader.require_zero(bytes.view().size(), "padding");
}

struct Head {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t bytes = 0;
};

Result<void> check_kind(const Head& head, std::string_view origin) {
  const std::optional<TrailingKind> known = known_kind(head.kind);
  if (known && head.bytes != bytes_of(*known)) {
    return fail(ErrorCode::damaged, "{}: a {} has {} bytes, not {}", origin, noun_of(*known),
                bytes_of(*known), head.bytes);
  }
  if (!known && (head.flags & k_trailing_required) != 0) {
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
    return fail(ErrorCode::damaged, "{}: {} bytes are left, but its header has {}", origin,
                end - offset, k_trailing_head_bytes);
  }
  CLBIN_TRY_ASSIGN(const ByteRegion region, source.read(offset, k_trailing_head_bytes, origin));
  ByteReader reader(region.view(), origin);
  Head head;
  CLBIN_TRY_ASSIGN(head.kind, reader.read_u32("kind"));
  CLBIN_TRY_ASSIGN(head.flags, reader.read_u32("flags"));
  CLBIN_TRY_ASSIGN(head.bytes, reader.read_u64("bytes"));
  if (head.kind == 0 || (head.flags & ~k_trailing_required) != 0) {
    return fail(ErrorCode::damaged, "{}: kind {} with flags 0x{:x} is not allowed", origin,
                head.kind, head.flags);
  }
  const std::uint64_t left = end - offset - k_trailing_head_bytes;
  if (head.bytes > left || padding_after(head.bytes) > left - head.bytes) {
    return fail(ErrorCode::damaged, "{}: bytes {} is beyond the {} left", origin, head.bytes, left);
  }
  CLBIN_TRY(check_kind(head, origin));
  return head;
}

bool is_selected(const Head& head, RecordSelection selection) noexcept {
  return selection == RecordSelection::all ||
         (selection == RecordSelection::known && known_kind(head.kind).has_value());
}

bool are_of_one_subject(const TrailingRecord& a, const TrailingRecord& b) {
  const std::optional<TrailingKind> kind = known_kind(a.kind);
  if (!kind || a.kind != b.kind) {
    return false;
  }
  const std::size_t size_bytes = subject_bytes_of(*kind);
  return a.bytes.size() >= size_bytes && b.bytes.size() >= size_bytes &&
         std::equal(a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(size_bytes),
                    b.bytes.begin());
}

} // namespace

Bytes signature_message(const Digest& root) {
  ByteWriter writer;
  writer.write_bytes(base::as_bytes(k_signature_context));
  writer.write_bytes(root.bytes);
  return std::move(writer).take();
}

Bytes counter_message(const Digest& root, std::uint64_t counter) {
  ByteWriter writer;
  writer.write_bytes(base::as_bytes(k_counter_context));
  writer.write_bytes(root.bytes);
  writer.write_u64(counter);
  return std::move(writer).take();
}

Bytes vouch_message(const PublicKey& new_key) {
  ByteWriter writer;
  writer.write_bytes(base::as_bytes(k_vouch_context));
  writer.write_bytes(new_key.bytes);
  return std::move(writer).take();
}

SignatureRecord sign_root(const Digest& root, const SecretKey& key) {
  return {key.public_key(), key.sign(signature_message(root))};
}

CounterRecord sign_counter(const Digest& root, std::uint64_t counter, const SecretKey& key) {
  return {key.public_key(), counter, key.sign(counter_message(root, counter))};
}

VouchRecord vouch_for(const PublicKey& new_key, const SecretKey& old_key) {
  return {old_key.public_key(), new_key, old_key.sign(vouch_message(new_key))};
}

bool holds(const SignatureRecord& record, const Digest& root) {
  return base::holds(record.signature, record.key, signature_message(root));
}

bool holds(const CounterRecord& record, const Digest& root) {
  return base::holds(record.signature, record.key, counter_message(root, record.counter));
}

bool holds(const VouchRecord& record) {
  return base::holds(record.signature, record.old_key, vouch_message(record.new_key));
}

TrailingRecord to_trailing_record(const SignatureRecord& record) {
  ByteWriter writer;
  writer.write_bytes(record.key.bytes);
  writer.write_bytes(record.signature.bytes);
  return record_of(TrailingKind::ed25519_signature, std::move(writer));
}

TrailingRecord to_trailing_record(const CounterRecord& record) {
  ByteWriter writer;
  writer.write_bytes(record.key.bytes);
  writer.write_u64(record.counter);
  writer.write_bytes(record.signature.bytes);
  return record_of(TrailingKind::counter, std::move(writer));
}

TrailingRecord to_trailing_record(const VouchRecord& record) {
  ByteWriter writer;
  writer.write_bytes(record.old_key.bytes);
  writer.write_bytes(record.new_key.bytes);
  writer.write_bytes(record.signature.bytes);
  return record_of(TrailingKind::vouch, std::move(writer));
}

bool is_of_kind(const TrailingRecord& record, TrailingKind kind) noexcept {
  return record.kind == static_cast<std::uint32_t>(kind);
}

Result<SignatureRecord> read_signature_record(const TrailingRecord& record) {
  ByteReader reader(record.bytes, "signature");
  SignatureRecord read;
  CLBIN_TRY_ASSIGN(read.key, read_key(reader, "public key"));
  CLBIN_TRY_ASSIGN(read.signature, read_signature(reader));
  CLBIN_TRY(reader.require_end());
  return read;
}

Result<CounterRecord> read_counter_record(const TrailingRecord& record) {
  ByteReader reader(record.bytes, "counter");
  CounterRecord read;
  CLBIN_TRY_ASSIGN(read.key, read_key(reader, "public key"));
  CLBIN_TRY_ASSIGN(read.counter, reader.read_u64("counter"));
  CLBIN_TRY_ASSIGN(read.signature, read_signature(reader));
  CLBIN_TRY(reader.require_end());
  return read;
}

Result<VouchRecord> read_vouch_record(const TrailingRecord& record) {
  ByteReader reader(record.bytes, "vouch");
  VouchRecord read;
  CLBIN_TRY_ASSIGN(read.old_key, read_key(reader, "old public key"));
  CLBIN_TRY_ASSIGN(read.new_key, read_key(reader, "new public key"));
  CLBIN_TRY_ASSIGN(read.signature, read_signature(reader));
  CLBIN_TRY(reader.require_end());
  return read;
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
    if (is_selected(head, selection)) {
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
  std::erase_if(records,
                [](const TrailingRecord& record) { return known_kind(record.kind).has_value(); });
}

Result<Bytes> with_trailing_records(ByteView bundle, std::vector<TrailingRecord> records) {
  if (records.size() > k_max_trailing_records) {
    return fail(ErrorCode::invalid_argument,
                "a bundle has at most {} trailing records, and this one would have {}",
                k_max_trailing_records, records.size());
  }
  CLBIN_TRY_ASSIGN(const OpenedDirectory opened,
                   open_directory(*base::memory_source(bundle), {}, TrailingBytes::refuse));
  const auto others =
      std::stable_partition(records.begin(), records.end(), [](const TrailingRecord& record) {
        return known_kind(record.kind).has_value();
      });
  std::sort(records.begin(), others, [](const TrailingRecord& a, const TrailingRecord& b) {
    return std::tie(a.kind, a.bytes, a.flags) < std::tie(b.kind, b.bytes, b.flags);
  });
  ByteWriter tail;
  for (const TrailingRecord& record : records) {
    tail.write_u32(record.kind);
    tail.write_u32(record.flags);
    tail.write_u64(record.bytes.size());
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

} // namespace clbin::format
