// Encodes and decodes the records of clbin(5). Checks only rules that concern a single record; the
// reader checks whether values of different records are consistent.
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"
#include "model/device.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace clbin::format {

inline constexpr std::uint32_t k_no_index = 0xffffffffU;
inline constexpr std::array<unsigned char, 8> k_magic = {0xc7, 'C',  'L',  'B',
                                                         'N',  0x0d, 0x0a, 0x1a};
inline constexpr std::uint16_t k_format_major = 1;
inline constexpr std::uint16_t k_format_minor = 0;
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

enum class SectionKind : std::uint32_t {
  group = 1,
  entry = 2,
  exact = 3,
  target = 4,
  blob = 5,
  strings = 6,
  payload = 7,
  keys = 8, // of encrypted bundles alone
};
inline constexpr std::size_t k_required_sections = 7; // kinds 1 to 7
inline constexpr std::size_t k_known_sections = 8;
// Returns a name such as "GROUP"; "section 12" for a number that this version does not know.
[[nodiscard]] std::string to_string(SectionKind kind);
// Returns the name of the section's records in messages: "group", "entry", …
[[nodiscard]] std::string_view record_name(SectionKind kind) noexcept;
// Returns 0 if the records have no fixed size.
[[nodiscard]] std::uint32_t record_bytes_of(SectionKind kind) noexcept;
// Returns the offset of a record's sort key, a u64, which the directory repeats for each page;
// std::nullopt if the pages of the section have none.
[[nodiscard]] std::optional<std::size_t> key_offset_of(SectionKind kind) noexcept;

inline constexpr std::uint32_t k_section_required = 1U << 0U;
inline constexpr std::uint32_t k_section_paged = 1U << 1U;
inline constexpr std::uint32_t k_trailing_required = 1U << 0U;
inline constexpr std::uint16_t k_target_offline = 1U << 0U;

enum class TrailingKind : std::uint32_t { ed25519_signature = 1, counter = 16, vouch = 17 };
inline constexpr std::uint64_t k_ed25519_signature_bytes = 96;
inline constexpr std::uint64_t k_counter_bytes = 104;
inline constexpr std::uint64_t k_vouch_bytes = 128;

enum class BlobCodec : std::uint8_t { stored = 0, zstd = 1, zstd_encrypted = 2 };

struct Prefix {
  std::uint16_t major = k_format_major;
  std::uint16_t minor = k_format_minor;
  std::uint32_t directory_bytes = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t total_bytes = 0;
  base::Digest root;
};

struct SectionRecord {
  SectionKind kind{};
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t record_bytes = 0;
  std::uint32_t count = 0;
};

struct PageRecord {
  std::uint64_t first_key = 0;
  base::Digest digest;
};

struct GroupRecord {
  std::uint64_t name_hash = 0;
  std::uint32_t program = 0;
  std::uint32_t variant = 0;
  std::uint32_t options = 0;
  std::uint32_t first_entry = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t source_blob = 0;
  std::uint32_t manifest_blob = 0;
};

struct EntryRecord {
  std::uint64_t match_key = 0;
  std::uint32_t target = 0;
  std::uint32_t blob = 0;
  std::uint32_t kernels = 0;
  std::uint32_t options = 0;
  std::uint16_t kind = 0;
  std::uint8_t type = 0;
  std::uint8_t address_bits = 0;
  std::uint32_t manifest_row = 0;
};

struct ExactRecord {
  std::uint64_t target_key = 0;
  std::uint32_t entry = 0;
};

struct TargetRecord {
  std::uint16_t family = 0;
  std::uint16_t flags = 0;
  std::uint32_t architecture = 0;
  std::uint32_t address_bits = 0;
  std::uint32_t features = 0;
  base::Digest digest;
  std::uint32_t platform_name = 0;
  std::uint32_t device_name = 0;
  std::uint32_t driver_version = 0;
  std::uint32_t spec = 0;
};

// Views contain other numbers unchanged. A payload that is not executable is never passed to a
// driver.
enum class PayloadType : std::uint8_t { executable = 1, library = 2, compiled_object = 3 };

// The record of BLOB, used directly because it contains nothing to look up.
struct BlobView {
  base::Digest raw_digest;
  base::Digest stored_digest;
  std::uint64_t offset = 0; // from the start of the section PAYLOAD
  std::uint64_t stored_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::uint32_t reference = k_no_index;
  std::uint8_t codec = 0;
  std::uint8_t flags = 0;
};

void write_prefix(base::ByteWriter& writer, const Prefix& prefix);
void write_record(base::ByteWriter& writer, const SectionRecord& record);
void write_record(base::ByteWriter& writer, const PageRecord& record);
void write_record(base::ByteWriter& writer, const GroupRecord& record);
void write_record(base::ByteWriter& writer, const EntryRecord& record);
void write_record(base::ByteWriter& writer, const ExactRecord& record);
void write_record(base::ByteWriter& writer, const TargetRecord& record);
void write_record(base::ByteWriter& writer, const BlobView& record);

// `bytes` is the prefix without its magic, which the caller has checked.
[[nodiscard]] base::Result<Prefix> read_prefix(base::ByteView bytes);
[[nodiscard]] base::Result<SectionRecord> read_section_record(base::ByteReader& reader);
[[nodiscard]] base::Result<PageRecord> read_page_record(base::ByteReader& reader);
// `bytes` is one record; `origin` is its name in messages ("entry 17").
[[nodiscard]] base::Result<GroupRecord> read_group_record(base::ByteView bytes,
                                                          std::string_view origin);
[[nodiscard]] base::Result<EntryRecord> read_entry_record(base::ByteView bytes,
                                                          std::string_view origin);
[[nodiscard]] base::Result<ExactRecord> read_exact_record(base::ByteView bytes,
                                                          std::string_view origin);
[[nodiscard]] base::Result<TargetRecord> read_target_record(base::ByteView bytes,
                                                            std::string_view origin);
[[nodiscard]] base::Result<BlobView> read_blob_record(base::ByteView bytes,
                                                      std::string_view origin);

// Returns the root; `rooted_prefix` is the first 24 bytes of the bundle.
[[nodiscard]] base::Digest root_of(base::ByteView rooted_prefix, base::ByteView directory);
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
