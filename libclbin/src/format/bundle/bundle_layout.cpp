#include "format/bundle/bundle_layout.hpp"

#include <algorithm>

namespace clbin::format {

using base::ByteReader;
using base::ByteView;
using base::ByteWriter;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view k_root_context = "clbin-root-1";

Result<Digest> read_digest(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(Digest().bytes.size(), field));
  Digest digest;
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

Result<void> require_flags(std::string_view origin, std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0) {
    return fail(ErrorCode::damaged, "{}: flags 0x{:x} has bits that must be zero", origin, flags);
  }
  return {};
}

} // namespace

std::string to_string(SectionKind kind) {
  switch (kind) {
  case SectionKind::group:
    return "GROUP";
  case SectionKind::entry:
    return "ENTRY";
  case SectionKind::exact:
    return "EXACT";
  case SectionKind::target:
    return "TARGET";
  case SectionKind::blob:
    return "BLOB";
  case SectionKind::strings:
    return "STRINGS";
  case SectionKind::payload:
    return "PAYLOAD";
  case SectionKind::keys:
    return "KEYS";
  }
  return fmt::format("section {}", static_cast<std::uint32_t>(kind));
}

std::string_view record_name(SectionKind kind) noexcept {
  switch (kind) {
  case SectionKind::group:
    return "group";
  case SectionKind::entry:
    return "entry";
  case SectionKind::exact:
    return "exact record";
  case SectionKind::target:
    return "target";
  case SectionKind::blob:
    return "blob";
  case SectionKind::strings:
    return "string";
  case SectionKind::payload:
    return "payload";
  case SectionKind::keys:
    return "key slot";
  }
  return "record";
}

std::uint32_t record_bytes_of(SectionKind kind) noexcept {
  switch (kind) {
  case SectionKind::group:
    return 40;
  case SectionKind::entry:
    return 32;
  case SectionKind::exact:
    return 16;
  case SectionKind::target:
    return 64;
  case SectionKind::blob:
    return 96;
  case SectionKind::keys:
    return 152;
  case SectionKind::strings:
  case SectionKind::payload:
    break;
  }
  return 0;
}

std::optional<std::size_t> key_offset_of(SectionKind kind) noexcept {
  switch (kind) {
  case SectionKind::group:
  case SectionKind::entry:
  case SectionKind::exact:
  case SectionKind::blob:
    return 0;
  case SectionKind::target:
    return 16; // its digest
  case SectionKind::strings:
  case SectionKind::payload:
  case SectionKind::keys:
    break;
  }
  return std::nullopt;
}

void write_prefix(ByteWriter& writer, const Prefix& prefix) {
  writer.write_bytes(std::as_bytes(std::span(k_magic)));
  writer.write_u16(prefix.major);
  writer.write_u16(prefix.minor);
  writer.write_u32(prefix.directory_bytes);
  writer.write_u64(prefix.body_bytes);
  writer.write_u64(prefix.total_bytes);
  writer.write_bytes(prefix.root.bytes);
}

Result<Prefix> read_prefix(ByteView bytes) {
  ByteReader reader(bytes, "prefix");
  Prefix prefix;
  CLBIN_TRY_ASSIGN(prefix.major, reader.read_u16("major"));
  CLBIN_TRY_ASSIGN(prefix.minor, reader.read_u16("minor"));
  CLBIN_TRY_ASSIGN(prefix.directory_bytes, reader.read_u32("directory_bytes"));
  CLBIN_TRY_ASSIGN(prefix.body_bytes, reader.read_u64("body_bytes"));
  CLBIN_TRY_ASSIGN(prefix.total_bytes, reader.read_u64("total_bytes"));
  CLBIN_TRY_ASSIGN(prefix.root, read_digest(reader, "root"));
  return prefix;
}

void write_record(ByteWriter& writer, const SectionRecord& record) {
  writer.write_u32(static_cast<std::uint32_t>(record.kind));
  writer.write_u32(record.flags);
  writer.write_u64(record.offset);
  writer.write_u64(record.bytes);
  writer.write_u32(record.record_bytes);
  writer.write_u32(record.count);
}

Result<SectionRecord> read_section_record(ByteReader& reader) {
  SectionRecord record;
  CLBIN_TRY_ASSIGN(const std::uint32_t kind, reader.read_u32("kind"));
  record.kind = static_cast<SectionKind>(kind);
  CLBIN_TRY_ASSIGN(record.flags, reader.read_u32("flags"));
  CLBIN_TRY_ASSIGN(record.offset, reader.read_u64("offset"));
  CLBIN_TRY_ASSIGN(record.bytes, reader.read_u64("bytes"));
  CLBIN_TRY_ASSIGN(record.record_bytes, reader.read_u32("record_bytes"));
  CLBIN_TRY_ASSIGN(record.count, reader.read_u32("count"));
  CLBIN_TRY(
      require_flags(to_string(record.kind), record.flags, k_section_required | k_section_paged));
  return record;
}

void write_record(ByteWriter& writer, const PageRecord& record) {
  writer.write_u64(record.first_key);
  writer.write_bytes(record.digest.bytes);
}

Result<PageRecord> read_page_record(ByteReader& reader) {
  PageRecord record;
  CLBIN_TRY_ASSIGN(record.first_key, reader.read_u64("first_key"));
  CLBIN_TRY_ASSIGN(record.digest, read_digest(reader, "digest of a page"));
  return record;
}

void write_record(ByteWriter& writer, const GroupRecord& record) {
  writer.write_u64(record.name_hash);
  writer.write_u32(record.program);
  writer.write_u32(record.variant);
  writer.write_u32(record.options);
  writer.write_u32(record.first_entry);
  writer.write_u32(record.entry_count);
  writer.write_u32(record.source_blob);
  writer.write_u32(record.manifest_blob);
  writer.write_zeros(4);
}

Result<GroupRecord> read_group_record(ByteView bytes, std::string_view origin) {
  ByteReader reader(bytes, origin);
  GroupRecord record;
  CLBIN_TRY_ASSIGN(record.name_hash, reader.read_u64("name_hash"));
  CLBIN_TRY_ASSIGN(record.program, reader.read_u32("program"));
  CLBIN_TRY_ASSIGN(record.variant, reader.read_u32("variant"));
  CLBIN_TRY_ASSIGN(record.options, reader.read_u32("options"));
  CLBIN_TRY_ASSIGN(record.first_entry, reader.read_u32("first_entry"));
  CLBIN_TRY_ASSIGN(record.entry_count, reader.read_u32("entry_count"));
  CLBIN_TRY_ASSIGN(record.source_blob, reader.read_u32("source_blob"));
  CLBIN_TRY_ASSIGN(record.manifest_blob, reader.read_u32("manifest_blob"));
  CLBIN_TRY(reader.require_zero(4, "the last field"));
  return record;
}

void write_record(ByteWriter& writer, const EntryRecord& record) {
  writer.write_u64(record.match_key);
  writer.write_u32(record.target);
  writer.write_u32(record.blob);
  writer.write_u32(record.kernels);
  writer.write_u32(record.options);
  writer.write_u16(record.kind);
  writer.write_u8(record.type);
  writer.write_u8(record.address_bits);
  writer.write_u32(record.manifest_row);
}

Result<EntryRecord> read_entry_record(ByteView bytes, std::string_view origin) {
  ByteReader reader(bytes, origin);
  EntryRecord record;
  CLBIN_TRY_ASSIGN(record.match_key, reader.read_u64("match_key"));
  CLBIN_TRY_ASSIGN(record.target, reader.read_u32("target"));
  CLBIN_TRY_ASSIGN(record.blob, reader.read_u32("blob"));
  CLBIN_TRY_ASSIGN(record.kernels, reader.read_u32("kernels"));
  CLBIN_TRY_ASSIGN(record.options, reader.read_u32("options"));
  CLBIN_TRY_ASSIGN(record.kind, reader.read_u16("kind"));
  CLBIN_TRY_ASSIGN(record.type, reader.read_u8("type"));
  CLBIN_TRY_ASSIGN(record.address_bits, reader.read_u8("address_bits"));
  CLBIN_TRY_ASSIGN(record.manifest_row, reader.read_u32("manifest_row"));
  if (record.kind != record.match_key >> 56U) {
    return fail(ErrorCode::damaged, "{}: kind {} is not that of match_key 0x{:016x}", origin,
                record.kind, record.match_key);
  }
  if (record.type == 0) {
    return fail(ErrorCode::damaged, "{}: type is 0", origin);
  }
  return record;
}

void write_record(ByteWriter& writer, const ExactRecord& record) {
  writer.write_u64(record.target_key);
  writer.write_u32(record.entry);
  writer.write_zeros(4);
}

Result<ExactRecord> read_exact_record(ByteView bytes, std::string_view origin) {
  ByteReader reader(bytes, origin);
  ExactRecord record;
  CLBIN_TRY_ASSIGN(record.target_key, reader.read_u64("target_key"));
  CLBIN_TRY_ASSIGN(record.entry, reader.read_u32("entry"));
  CLBIN_TRY(reader.require_zero(4, "the last field"));
  return record;
}

void write_record(ByteWriter& writer, const TargetRecord& record) {
  writer.write_u16(record.family);
  writer.write_u16(record.flags);
  writer.write_u32(record.architecture);
  writer.write_u32(record.address_bits);
  writer.write_u32(record.features);
  writer.write_bytes(record.digest.bytes);
  writer.write_u32(record.platform_name);
  writer.write_u32(record.device_name);
  writer.write_u32(record.driver_version);
  writer.write_u32(record.spec);
}

Result<TargetRecord> read_target_record(ByteView bytes, std::string_view origin) {
  ByteReader reader(bytes, origin);
  TargetRecord record;
  CLBIN_TRY_ASSIGN(record.family, reader.read_u16("family"));
  CLBIN_TRY_ASSIGN(record.flags, reader.read_u16("flags"));
  CLBIN_TRY_ASSIGN(record.architecture, reader.read_u32("architecture"));
  CLBIN_TRY_ASSIGN(record.address_bits, reader.read_u32("address_bits"));
  CLBIN_TRY_ASSIGN(record.features, reader.read_u32("features"));
  CLBIN_TRY_ASSIGN(record.digest, read_digest(reader, "digest"));
  CLBIN_TRY_ASSIGN(record.platform_name, reader.read_u32("platform_name"));
  CLBIN_TRY_ASSIGN(record.device_name, reader.read_u32("device_name"));
  CLBIN_TRY_ASSIGN(record.driver_version, reader.read_u32("driver_version"));
  CLBIN_TRY_ASSIGN(record.spec, reader.read_u32("spec"));
  CLBIN_TRY(require_flags(origin, record.flags, k_target_offline));
  return record;
}

void write_record(ByteWriter& writer, const BlobView& record) {
  writer.write_bytes(record.raw_digest.bytes);
  writer.write_bytes(record.stored_digest.bytes);
  writer.write_u64(record.offset);
  writer.write_u64(record.stored_bytes);
  writer.write_u64(record.raw_bytes);
  writer.write_u32(record.reference);
  writer.write_u8(record.codec);
  writer.write_u8(record.flags);
  writer.write_zeros(2);
}

Result<BlobView> read_blob_record(ByteView bytes, std::string_view origin) {
  ByteReader reader(bytes, origin);
  BlobView record;
  CLBIN_TRY_ASSIGN(record.raw_digest, read_digest(reader, "raw_digest"));
  CLBIN_TRY_ASSIGN(record.stored_digest, read_digest(reader, "stored_digest"));
  CLBIN_TRY_ASSIGN(record.offset, reader.read_u64("offset"));
  CLBIN_TRY_ASSIGN(record.stored_bytes, reader.read_u64("stored_bytes"));
  CLBIN_TRY_ASSIGN(record.raw_bytes, reader.read_u64("raw_bytes"));
  CLBIN_TRY_ASSIGN(record.reference, reader.read_u32("reference"));
  CLBIN_TRY_ASSIGN(record.codec, reader.read_u8("codec"));
  CLBIN_TRY_ASSIGN(record.flags, reader.read_u8("flags"));
  CLBIN_TRY(reader.require_zero(2, "the last field"));
  CLBIN_TRY(require_flags(origin, record.flags, 0));
  return record;
}

Digest root_of(ByteView rooted_prefix, ByteView directory) {
  base::Hasher hasher;
  hasher.add(base::as_bytes(k_root_context));
  hasher.add(rooted_prefix);
  hasher.add(directory);
  return hasher.finish();
}

std::uint64_t name_hash(std::string_view program, std::string_view variant) {
  base::Hasher hasher;
  hasher.add(base::as_bytes(program));
  hasher.add(base::as_bytes(std::string_view("\0", 1)));
  hasher.add(base::as_bytes(variant));
  return base::leading_u64(hasher.finish());
}

} // namespace clbin::format
