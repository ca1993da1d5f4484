// The records of clbin(5), and how they are encoded and decoded. Each record has one visit(), which
// names its fields in the order of their bytes. Reading checks only rules that concern a single
// record; the reader checks whether values of different records are consistent.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/bundle/shared_text.hpp"
#include "model/device.hpp"

namespace clbin::format {

inline constexpr std::uint32_t k_no_index = 0xffffffffU;
inline constexpr std::array<unsigned char, 8> k_magic = {0xc7, 'C',  'L',  'B',
                                                         'N',  0x0d, 0x0a, 0x1a};
inline constexpr std::uint16_t k_format_major = 1;
inline constexpr std::uint16_t k_format_minor = 0; // of a bundle without requirements
inline constexpr std::uint16_t k_minor_of_requirements = 1;
inline constexpr std::uint16_t k_minor_of_rankings = 2;
inline constexpr std::uint16_t k_minor_of_packs = 3; // the highest that is known
inline constexpr std::size_t k_prefix_bytes = 64;
inline constexpr std::size_t k_rooted_prefix_bytes = 24;
inline constexpr std::size_t k_directory_head_bytes = 8;
inline constexpr std::size_t k_section_record_bytes = 32;
inline constexpr std::size_t k_page_record_bytes = 40;
inline constexpr std::uint32_t k_page_bytes = 4096;
inline constexpr std::uint64_t k_alignment = 8;
inline constexpr std::uint32_t k_max_sections = 64;
inline constexpr std::uint32_t k_max_trailing_records = 16;
inline constexpr std::uint32_t k_trailing_head_bytes = 16;
inline constexpr std::uint32_t k_max_string_bytes = 1U << 20U;
inline constexpr std::uint64_t k_max_window_bytes = 1ULL << 27U;
inline constexpr std::uint32_t k_max_key_slots = 1024;

// Returns an error of `origin`, a record or a section, that violates a rule.
template <typename... Args>
[[nodiscard]] tl::unexpected<base::Error>
damaged(std::string_view origin, fmt::format_string<Args...> rule, Args&&... args) {
  return fail(ErrorCode::damaged, "{}: {}", origin, fmt::format(rule, std::forward<Args>(args)...));
}

enum class SectionKind : std::uint32_t {
  group = 1,
  entry = 2,
  exact = 3,
  target = 4,
  blob = 5,
  strings = 6,
  payload = 7,
  keys = 8, // of encrypted bundles alone
  // 9 stays unknown: tests/golden/v1/minor_1.clbin contains it as a section of a later version.
  requirement = 10, // since format 1.1, if a variant requires something
  ranking = 11,     // since format 1.2, if variants were measured
  pack = 12,        // since format 1.3, if other bundles contain entries of this one
};
inline constexpr std::size_t k_required_sections = 7; // kinds 1 to 7
inline constexpr std::size_t k_known_sections = 12;
[[nodiscard]] constexpr bool is_optional(SectionKind kind) noexcept {
  return static_cast<std::size_t>(kind) > k_required_sections;
}

struct SectionTraits {
  std::string_view name;          // "GROUP"
  std::string_view record;        // the name of a record in messages: "group"
  std::uint32_t record_bytes = 0; // 0 if the records have no fixed size
  // Offset of a record's sort key, a u64, which the directory repeats for each page; std::nullopt
  // if the pages of the section have none.
  std::optional<std::size_t> key_offset{};
};
// Null for a kind that this version does not know.
[[nodiscard]] const SectionTraits* traits_of(SectionKind kind) noexcept;
// Returns a name such as "GROUP"; "section 12" for a number that this version does not know.
[[nodiscard]] std::string to_string(SectionKind kind);
// Returns the name of a record in messages: "entry 17". The kind must be known.
[[nodiscard]] std::string origin_of(SectionKind kind, std::uint32_t index);

inline constexpr std::uint32_t k_section_required = 1U << 0U;
inline constexpr std::uint32_t k_section_paged = 1U << 1U;
inline constexpr std::uint32_t k_trailing_required = 1U << 0U;
inline constexpr std::uint16_t k_target_offline = 1U << 0U;

enum class TrailingKind : std::uint32_t { ed25519_signature = 1, counter = 16, vouch = 17 };

enum class BlobCodec : std::uint8_t { stored = 0, zstd = 1, zstd_encrypted = 2 };

// A field whose bytes must be zero.
template <std::size_t size>
struct Zeros {
  friend bool operator==(const Zeros&, const Zeros&) = default;
};

// The prefix without its magic.
struct Prefix {
  std::uint16_t major = k_format_major;
  std::uint16_t minor = k_format_minor;
  std::uint32_t directory_bytes = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t total_bytes = 0;
  Digest root;
};
CLBIN_VISIT(Prefix, major, minor, directory_bytes, body_bytes, total_bytes, root);

struct SectionRecord {
  SectionKind kind{};
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t record_bytes = 0;
  std::uint32_t count = 0;
};
CLBIN_VISIT(SectionRecord, kind, flags, offset, bytes, record_bytes, count);

struct PageRecord {
  std::uint64_t first_key = 0;
  Digest digest;
};
CLBIN_VISIT(PageRecord, first_key, digest);

struct GroupRecord {
  static constexpr SectionKind k_section = SectionKind::group;
  std::uint64_t name_hash = 0;
  SharedText program;
  SharedText variant;
  SharedText options; // used by the source fallback
  std::uint32_t first_entry = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t source_blob = k_no_index;
  std::uint32_t manifest_blob = k_no_index;
  Zeros<4> reserved{};

  [[nodiscard]] bool contains(std::uint32_t entry) const noexcept {
    return entry >= first_entry && entry - first_entry < entry_count;
  }
};
CLBIN_VISIT(GroupRecord, name_hash, program, variant, options, first_entry, entry_count,
            source_blob, manifest_blob, reserved);

// What a variant requires of a device.
struct RequirementRecord {
  static constexpr SectionKind k_section = SectionKind::requirement;
  std::uint32_t group = 0;
  SharedNames extensions; // ascending, none empty
};
CLBIN_VISIT(RequirementRecord, group, extensions);

// The place of a variant among those that were measured on certain devices.
struct RankingRecord {
  static constexpr SectionKind k_section = SectionKind::ranking;
  std::uint64_t key = 0;         // ranking_key
  std::uint32_t group = 0;       // the variant; k_no_index: none was good there
  std::uint32_t rank = 0;        // 0, 1, …: the best is first
  std::uint32_t work_items = 0;  // least work-group that it requires of a device; 0 if unknown
  std::uint32_t local_bytes = 0; // likewise, of local memory
};
CLBIN_VISIT(RankingRecord, key, group, rank, work_items, local_bytes);

struct TargetView {
  static constexpr SectionKind k_section = SectionKind::target;
  DeviceFamily family = DeviceFamily::unknown;
  TargetOrigin origin = TargetOrigin::installed_device; // bit 0 of the flags
  std::uint32_t architecture = 0;
  std::uint32_t address_bits = 0;
  std::uint32_t features = 0;
  Digest digest; // target_digest
  // The texts that the table contains for reports; the manifest contains the whole identity.
  SharedText platform_name;
  SharedText device_name;
  SharedText driver_version;
  SharedText spec;
};
CLBIN_VISIT(TargetView, family, origin, architecture, address_bits, features, digest, platform_name,
            device_name, driver_version, spec);

// Entries of a target in another bundle, a pack.
struct PackRecord {
  static constexpr SectionKind k_section = SectionKind::pack;
  std::uint64_t match_key = 0;  // of the entries
  std::uint64_t target_key = 0; // the first bytes of the digest of their target
  Digest root;                  // of the pack
  SharedText name;              // is_pack_name
  Zeros<4> reserved{};
};
CLBIN_VISIT(PackRecord, match_key, target_key, root, name, reserved);

inline constexpr std::string_view k_base_name = "base";
// Whether `name` has 1 to 100 characters, each a small letter, a digit, '.', '-' or '_', begins
// with a letter or a digit, and is not k_base_name: the name of a file beside the base.
[[nodiscard]] bool is_pack_name(std::string_view name) noexcept;

// Returns the record of a target.
[[nodiscard]] TargetView view_of(const Target& target);

// Views contain other numbers unchanged. A payload that is not executable is never passed to a
// driver.
enum class PayloadType : std::uint8_t { executable = 1, library = 2, compiled_object = 3 };

struct EntryRecord {
  static constexpr SectionKind k_section = SectionKind::entry;
  std::uint64_t match_key = 0;
  TargetView target;
  std::uint32_t blob = 0;
  SharedNames kernels; // ascending, none empty
  SharedText options;
  BinaryKind kind = BinaryKind::unknown;
  PayloadType type = PayloadType::executable;
  std::uint8_t address_bits = 0;
  std::uint32_t manifest_row = 0;
};
CLBIN_VISIT(EntryRecord, match_key, target, blob, kernels, options, kind, type, address_bits,
            manifest_row);

struct ExactRecord {
  static constexpr SectionKind k_section = SectionKind::exact;
  std::uint64_t target_key = 0;
  std::uint32_t entry = 0;
  Zeros<4> reserved{};
};
CLBIN_VISIT(ExactRecord, target_key, entry, reserved);

struct BlobView {
  static constexpr SectionKind k_section = SectionKind::blob;
  Digest raw_digest;
  Digest stored_digest;
  std::uint64_t offset = 0; // from the start of the section PAYLOAD
  std::uint64_t stored_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::uint32_t reference = k_no_index;
  std::uint8_t codec = 0;
  std::uint8_t flags = 0;
  Zeros<2> reserved{};

  [[nodiscard]] bool has_reference() const noexcept { return reference != k_no_index; }
};
CLBIN_VISIT(BlobView, raw_digest, stored_digest, offset, stored_bytes, raw_bytes, reference, codec,
            flags, reserved);

// Rules of single records. Errors: damaged.
[[nodiscard]] Result<void> check_record(const SectionRecord& record, std::string_view origin);
[[nodiscard]] Result<void> check_record(const EntryRecord& record, std::string_view origin);
[[nodiscard]] Result<void> check_record(const TargetView& record, std::string_view origin);
[[nodiscard]] Result<void> check_record(const BlobView& record, std::string_view origin);

// A field that refers to another table. The file contains a number, and the record what it means.
template <typename T>
concept Reference =
    std::same_as<T, SharedText> || std::same_as<T, SharedNames> || std::same_as<T, TargetView>;

// Writes and reads the bytes of one field.
template <std::size_t size>
void write_field(ByteWriter& writer, const Zeros<size>& /*field*/) {
  writer.write_zeros(size);
}
template <std::size_t size>
void write_field(ByteWriter& writer, const std::array<std::byte, size>& bytes) {
  writer.write_bytes(bytes);
}
void write_field(ByteWriter& writer, Number auto number) {
  writer.write_bytes(
      base::little_endian(static_cast<std::make_unsigned_t<decltype(number)>>(number)));
}
void write_field(ByteWriter& writer, const auto& digest_or_key) requires requires {
  digest_or_key.bytes;
}
{ writer.write_bytes(digest_or_key.bytes); }
template <std::size_t size>
Result<void> read_field(ByteReader& reader, std::string_view /*name*/, Zeros<size>& /*field*/) {
  return reader.require_zero(size, "the last field");
}
template <std::size_t size>
Result<void> read_field(ByteReader& reader, std::string_view name,
                        std::array<std::byte, size>& value) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(size, name));
  std::copy(bytes.begin(), bytes.end(), value.begin());
  return {};
}
Result<void> read_field(ByteReader& reader, std::string_view name, Number auto& number) {
  using Field = std::remove_reference_t<decltype(number)>;
  CLBIN_TRY_ASSIGN(const ByteView bytes, reader.read_bytes(sizeof number, name));
  number = static_cast<Field>(base::from_little_endian<std::make_unsigned_t<Field>>(bytes));
  return {};
}
Result<void> read_field(ByteReader& reader, std::string_view name,
                        auto& digest_or_key) requires requires {
  digest_or_key.bytes;
}
{ return read_field(reader, name, digest_or_key.bytes); }

// Reads and writes the number of a reference, but not what it means.
struct IgnoreReferences {
  std::uint32_t operator()(const auto& /*reference*/) const { return 0; }
  Result<void> operator()(std::string_view /*name*/, std::uint32_t /*number*/,
                          auto& /*reference*/) const {
    return {};
  }
};

// `number_of` returns the number of a reference.
template <Record T, typename NumberOf = IgnoreReferences>
void write_record(ByteWriter& writer, const T& record, const NumberOf& number_of = {}) {
  visit(record, [&](std::string_view /*name*/, const auto& field) {
    if constexpr (Reference<std::remove_cvref_t<decltype(field)>>) {
      write_field(writer, std::uint32_t{number_of(field)});
    } else {
      write_field(writer, field);
    }
  });
}

// Reads the next record of `reader`. `origin` is its name in messages ("entry 17"). `follow` sets a
// reference to what its number means, or returns an error. Errors: truncated, damaged.
template <Record T, typename Follow = IgnoreReferences>
[[nodiscard]] Result<T> read_record(ByteReader& reader, std::string_view origin,
                                    const Follow& follow = {}) {
  T record;
  Result<void> done;
  visit(record, [&](std::string_view name, auto& field) {
    if (!done) {
      return;
    }
    if constexpr (Reference<std::remove_reference_t<decltype(field)>>) {
      std::uint32_t number = 0;
      done = read_field(reader, name, number);
      done = done ? follow(name, number, field) : std::move(done);
    } else {
      done = read_field(reader, name, field);
    }
  });
  CLBIN_TRY(std::move(done));
  if constexpr (requires { check_record(record, origin); }) {
    CLBIN_TRY(check_record(record, origin));
  }
  return record;
}
// `bytes` is one record.
template <Record T, typename Follow = IgnoreReferences>
[[nodiscard]] Result<T> read_record(ByteView bytes, std::string_view origin,
                                    const Follow& follow = {}) {
  ByteReader reader(bytes, origin);
  return read_record<T>(reader, origin, follow);
}

// Writes the magic and the other fields.
void write_prefix(ByteWriter& writer, const Prefix& prefix);

// Returns the root; `rooted_prefix` is the first 24 bytes of the bundle.
[[nodiscard]] Digest root_of(ByteView rooted_prefix, ByteView directory);
// Returns GROUP.name_hash.
[[nodiscard]] std::uint64_t name_hash(std::string_view program, std::string_view variant);
// Returns `size_bytes`, which must be less than 2^64 - 8, rounded up to a multiple of 8.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t size_bytes) noexcept {
  return (size_bytes + (k_alignment - 1)) & ~(k_alignment - 1);
}
[[nodiscard]] constexpr std::uint64_t padding_after(std::uint64_t size_bytes) noexcept {
  return (0 - size_bytes) & (k_alignment - 1);
}

} // namespace clbin::format
