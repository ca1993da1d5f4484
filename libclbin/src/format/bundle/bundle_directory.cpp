#include "format/bundle/bundle_directory.hpp"

#include "format/bundle/signature_policy.hpp"
#include "format/bundle/trailing_records.hpp"

#include <algorithm>

namespace clbin::format {

using base::ByteReader;
using base::ByteRegion;
using base::ByteSource;
using base::ByteView;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t k_magic_bytes = k_magic.size();
constexpr std::size_t k_version_end = 12;

bool is_known(SectionKind kind) noexcept {
  const auto number = static_cast<std::uint32_t>(kind);
  return number >= 1 && number <= k_known_sections;
}

Result<void> check_magic(ByteView start) {
  if (start.empty()) {
    return fail(ErrorCode::not_a_bundle, "not a bundle: it is empty");
  }
  const ByteView magic = std::as_bytes(std::span(k_magic));
  const std::size_t count = std::min(start.size(), k_magic_bytes);
  if (!std::equal(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(count),
                  magic.begin())) {
    std::string seen;
    for (const std::byte value : start.first(count)) {
      seen += fmt::format(" {:02x}", std::to_integer<unsigned>(value));
    }
    return fail(ErrorCode::not_a_bundle, "not a bundle: it starts with{}", seen);
  }
  return {};
}

Result<void> check_major(ByteView start) {
  ByteReader reader(start.subspan(k_magic_bytes), "prefix");
  CLBIN_TRY_ASSIGN(const std::uint16_t major, reader.read_u16("major"));
  CLBIN_TRY_ASSIGN(const std::uint16_t minor, reader.read_u16("minor"));
  if (major > k_format_major) {
    return fail(ErrorCode::newer_version,
                "prefix: format version {}.{} is newer than {}.{}, which this version reads", major,
                minor, k_format_major, k_format_minor);
  }
  if (major != k_format_major) {
    return fail(ErrorCode::damaged, "prefix: there is no format version {}.{}", major, minor);
  }
  return {};
}

Result<void> check_sizes(const Prefix& prefix, std::uint64_t source_bytes, const ReadLimits& limits,
                         TrailingBytes trailing) {
  if (prefix.directory_bytes > limits.max_directory_bytes) {
    return fail(ErrorCode::limit_exceeded,
                "prefix: directory_bytes {} is above the limit of {} bytes", prefix.directory_bytes,
                limits.max_directory_bytes);
  }
  if (prefix.body_bytes % k_alignment != 0 || prefix.total_bytes % k_alignment != 0) {
    return fail(ErrorCode::damaged,
                "prefix: body_bytes {} and total_bytes {} are not multiples of {}",
                prefix.body_bytes, prefix.total_bytes, k_alignment);
  }
  if (prefix.body_bytes > prefix.total_bytes) {
    return fail(ErrorCode::damaged, "prefix: body_bytes {} is above total_bytes {}",
                prefix.body_bytes, prefix.total_bytes);
  }
  if (prefix.body_bytes < k_prefix_bytes ||
      prefix.directory_bytes > prefix.body_bytes - k_prefix_bytes) {
    return fail(ErrorCode::damaged, "prefix: directory_bytes {} does not fit into body_bytes {}",
                prefix.directory_bytes, prefix.body_bytes);
  }
  if (prefix.total_bytes > source_bytes) {
    return fail(ErrorCode::truncated, "prefix: total_bytes is {}, but only {} bytes are present",
                prefix.total_bytes, source_bytes);
  }
  if (trailing == TrailingBytes::refuse && prefix.total_bytes < source_bytes) {
    return fail(ErrorCode::trailing_bytes, "{} bytes follow the bundle of {}",
                source_bytes - prefix.total_bytes, prefix.total_bytes);
  }
  return {};
}

Result<std::pair<Prefix, ByteRegion>>
read_and_check_prefix(const ByteSource& source, const ReadLimits& limits, TrailingBytes trailing) {
  const std::uint64_t available = std::min<std::uint64_t>(source.size_bytes(), k_prefix_bytes);
  CLBIN_TRY_ASSIGN(ByteRegion region, source.read(0, available, "prefix"));
  const ByteView start = region.view();
  CLBIN_TRY(check_magic(start));
  if (available >= k_version_end) {
    CLBIN_TRY(check_major(start));
  }
  if (available < k_prefix_bytes) {
    return fail(ErrorCode::truncated, "prefix: only {} of {} bytes are present", available,
                k_prefix_bytes);
  }
  CLBIN_TRY_ASSIGN(const Prefix prefix, read_prefix(start.subspan(k_magic_bytes)));
  CLBIN_TRY(check_sizes(prefix, source.size_bytes(), limits, trailing));
  return std::pair(prefix, std::move(region));
}

// Checks the flags and sizes of a record, but not the location of the section.
Result<void> check_section_shape(const SectionRecord& record, std::string_view name) {
  const bool required = (record.flags & k_section_required) != 0;
  const bool paged = (record.flags & k_section_paged) != 0;
  if (!is_known(record.kind) && required) {
    return fail(ErrorCode::unknown_required_section, "{} is required and not known to this version",
                name);
  }
  if (is_known(record.kind) && required == (record.kind == SectionKind::keys)) {
    return fail(ErrorCode::damaged, "{}: its flags {} it as required", name,
                required ? "mark" : "do not mark");
  }
  if (paged == (record.kind == SectionKind::payload)) {
    return fail(ErrorCode::damaged, "{}: every section but PAYLOAD has pages", name);
  }
  if (is_known(record.kind) && record.record_bytes != record_bytes_of(record.kind)) {
    return fail(ErrorCode::damaged, "{}: record_bytes is {}, expected {}", name,
                record.record_bytes, record_bytes_of(record.kind));
  }
  if (record.record_bytes > k_page_bytes) {
    return fail(ErrorCode::damaged, "{}: record_bytes {} is above {}", name, record.record_bytes,
                k_page_bytes);
  }
  if (record.kind == SectionKind::keys && (record.count == 0 || record.count > k_max_key_slots)) {
    return fail(ErrorCode::damaged, "{}: count is {}, expected 1 to {}", name, record.count,
                k_max_key_slots);
  }
  if (record.kind == SectionKind::payload && record.count != 0) {
    return fail(ErrorCode::damaged, "{}: count is {}, expected 0", name, record.count);
  }
  if (record.record_bytes != 0 && (record.bytes % record.record_bytes != 0 ||
                                   record.bytes / record.record_bytes != record.count)) {
    return fail(ErrorCode::damaged, "{}: {} bytes are not {} records of {}", name, record.bytes,
                record.count, record.record_bytes);
  }
  return {};
}

} // namespace

Result<Directory> Directory::parse(ByteRegion bytes, std::uint64_t body_bytes) {
  Directory directory(std::move(bytes));
  ByteReader reader(directory.m_bytes.view(), "directory");
  CLBIN_TRY(directory.read_sections(reader, body_bytes));
  CLBIN_TRY(directory.place_pages(reader));
  return directory;
}

Result<void> Directory::read_sections(ByteReader& reader, std::uint64_t body_bytes) {
  CLBIN_TRY_ASSIGN(const std::uint32_t section_count, reader.read_u32("section_count"));
  CLBIN_TRY(reader.require_zero(4, "the field after section_count"));
  if (section_count > k_max_sections) {
    return fail(ErrorCode::damaged, "directory: section_count {} is above {}", section_count,
                k_max_sections);
  }
  std::uint64_t expected_offset = k_prefix_bytes + m_bytes.view().size();
  std::uint32_t last_kind = 0;
  std::size_t required_count = 0;
  for (std::uint32_t i = 0; i < section_count; ++i) {
    CLBIN_TRY_ASSIGN(const SectionRecord record, read_section_record(reader));
    const std::string name = to_string(record.kind);
    if (static_cast<std::uint32_t>(record.kind) <= last_kind) {
      return fail(ErrorCode::damaged, "directory: {} is out of order", name);
    }
    CLBIN_TRY(check_section_shape(record, name));
    if (record.offset != expected_offset || record.offset > body_bytes ||
        record.bytes > body_bytes - record.offset) {
      return fail(ErrorCode::damaged,
                  "{}: {} bytes at offset {} are not at {} or end beyond body_bytes {}", name,
                  record.bytes, record.offset, expected_offset, body_bytes);
    }
    expected_offset = align_up(record.offset + record.bytes);
    last_kind = static_cast<std::uint32_t>(record.kind);
    if (is_known(record.kind)) {
      m_known[last_kind - 1] = m_sections.size();
      const bool is_keys = record.kind == SectionKind::keys;
      m_has_keys = m_has_keys || is_keys;
      required_count += is_keys ? 0 : 1;
    }
    m_sections.push_back({record, 0, 0, 0});
  }
  if (required_count != k_required_sections) {
    return fail(ErrorCode::damaged, "directory: only {} of the {} required sections are present",
                required_count, k_required_sections);
  }
  if (expected_offset != body_bytes) {
    return fail(ErrorCode::damaged, "directory: its sections end at {}, but body_bytes is {}",
                expected_offset, body_bytes);
  }
  return {};
}

Result<void> Directory::place_pages(ByteReader& reader) {
  m_pages_offset = reader.offset();
  std::uint64_t left = reader.remaining() / k_page_record_bytes;
  for (SectionLayout& section : m_sections) {
    section.first_page = m_page_count;
    if ((section.record.flags & k_section_paged) == 0) {
      continue;
    }
    const std::uint32_t record_bytes = std::max(section.record.record_bytes, 1U);
    section.page_bytes = k_page_bytes / record_bytes * record_bytes;
    const std::uint64_t bytes = section.record.bytes;
    const std::uint64_t pages =
        bytes / section.page_bytes + (bytes % section.page_bytes == 0 ? 0U : 1U);
    if (pages > left) {
      return fail(ErrorCode::damaged, "directory: {} has {} pages, but {} are left", //
                  to_string(section.record.kind), pages, left);
    }
    left -= pages;
    section.page_count = static_cast<std::uint32_t>(pages);
    m_page_count += section.page_count;
  }
  CLBIN_TRY(reader.read_bytes(std::size_t{m_page_count} * k_page_record_bytes, "pages"));
  return reader.require_end();
}

Result<PageRecord> Directory::page(std::uint32_t page) const {
  ByteReader reader(m_bytes.view().subspan(m_pages_offset + std::size_t{page} * k_page_record_bytes,
                                           k_page_record_bytes),
                    "page of the directory");
  return read_page_record(reader);
}

Result<std::uint64_t> Directory::first_key(std::uint32_t page) const {
  ByteReader reader(m_bytes.view().subspan(m_pages_offset + std::size_t{page} * k_page_record_bytes,
                                           k_page_record_bytes),
                    "page of the directory");
  return reader.read_u64("first_key");
}

Result<OpenedDirectory> open_directory(const ByteSource& source, const ReadLimits& limits,
                                       TrailingBytes trailing, const SignaturePolicy* required) {
  CLBIN_TRY_ASSIGN(const auto prefix, read_and_check_prefix(source, limits, trailing));
  std::vector<TrailingRecord> records;
  if (required != nullptr) {
    CLBIN_TRY_ASSIGN(records, read_trailing_records(source, prefix.first, RecordSelection::known));
  }
  CLBIN_TRY_ASSIGN(ByteRegion bytes,
                   source.read(k_prefix_bytes, prefix.first.directory_bytes, "directory"));
  if (root_of(prefix.second.view().first(k_rooted_prefix_bytes), bytes.view()) !=
      prefix.first.root) {
    return fail(ErrorCode::digest_mismatch,
                "prefix: root does not match: the prefix or the directory was changed");
  }
  std::uint64_t counter = 0;
  if (required != nullptr) {
    CLBIN_TRY_ASSIGN(counter, check_signatures(prefix.first.root, records, *required));
  }
  CLBIN_TRY_ASSIGN(Directory directory,
                   Directory::parse(std::move(bytes), prefix.first.body_bytes));
  if (required == nullptr) {
    CLBIN_TRY(read_trailing_records(source, prefix.first, RecordSelection::none));
  }
  return OpenedDirectory{prefix.first, std::move(directory), counter};
}

} // namespace clbin::format
