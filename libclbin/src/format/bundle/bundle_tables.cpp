#include "format/bundle/bundle_tables.hpp"

namespace clbin::format {

namespace {

constexpr std::size_t k_magic_bytes = k_magic.size();
constexpr std::size_t k_version_end = 12;

Result<void> check_magic(ByteView start) {
  if (start.empty()) {
    return fail(ErrorCode::not_a_bundle, "not a bundle: it is empty");
  }
  const ByteView magic = std::as_bytes(std::span(k_magic));
  const std::size_t count = std::min(start.size(), k_magic_bytes);
  if (!std::equal(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(count),
                  magic.begin())) {
    if (const std::string_view name = name_of_foreign_file(start); !name.empty()) {
      return fail(ErrorCode::not_a_bundle, "not a bundle: it is {}", name);
    }
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
  CLBIN_TRY_ASSIGN(const Prefix prefix,
                   read_record<Prefix>(start.subspan(k_magic_bytes), "prefix"));
  CLBIN_TRY(check_sizes(prefix, source.size_bytes(), limits, trailing));
  return std::pair(prefix, std::move(region));
}

// Checks the flags and sizes of a record, but not the location of the section.
Result<void> check_section_shape(const SectionRecord& record, std::string_view name) {
  const bool required = (record.flags & k_section_required) != 0;
  const bool paged = (record.flags & k_section_paged) != 0;
  const SectionTraits* const known = traits_of(record.kind);
  if (known == nullptr && required) {
    return fail(ErrorCode::unknown_required_section, "{} is required and not known to this version",
                name);
  }
  if (known != nullptr && required == is_optional(record.kind)) {
    return damaged(name, "its flags {} it as required", required ? "mark" : "do not mark");
  }
  if (paged == (record.kind == SectionKind::payload)) {
    return damaged(name, "every section but PAYLOAD has pages");
  }
  if (known != nullptr && record.record_bytes != known->record_bytes) {
    return damaged(name, "record_bytes is {}, expected {}", record.record_bytes,
                   known->record_bytes);
  }
  if (record.record_bytes > k_page_bytes) {
    return damaged(name, "record_bytes {} is above {}", record.record_bytes, k_page_bytes);
  }
  if (record.kind == SectionKind::keys && (record.count == 0 || record.count > k_max_key_slots)) {
    return damaged(name, "count is {}, expected 1 to {}", record.count, k_max_key_slots);
  }
  if (record.kind == SectionKind::payload && record.count != 0) {
    return damaged(name, "count is {}, expected 0", record.count);
  }
  if (record.record_bytes != 0 && (record.bytes % record.record_bytes != 0 ||
                                   record.bytes / record.record_bytes != record.count)) {
    return damaged(name, "{} bytes are not {} records of {}", record.bytes, record.count,
                   record.record_bytes);
  }
  return {};
}

// Tables. -----------------------------------------------------------------------------------------

// Pages of a file are copies. Beyond this number (16 MiB), they are not cached but read again.
constexpr std::size_t k_max_cached_pages = 4096;
constexpr std::size_t k_string_head_bytes = 4;

// `bytes` contain whole records.
std::uint64_t key_at(ByteView bytes, std::size_t offset) {
  return base::from_little_endian<std::uint64_t>(bytes.subspan(offset, sizeof(std::uint64_t)));
}

Result<void> check_first_key(SectionKind kind, ByteView bytes, std::uint64_t first_key,
                             std::string_view name) {
  const SectionTraits* const known = traits_of(kind);
  const bool has_key = known != nullptr && known->key_offset;
  const std::uint64_t expected = has_key ? key_at(bytes, *known->key_offset) : 0;
  if (known != nullptr && first_key != expected) {
    return damaged(name, "first_key is 0x{:016x}, its first record has 0x{:016x}", first_key,
                   expected);
  }
  return {};
}

// Memory limit of name lists in addition to their characters. A list of names of 5 characters each
// needs 6 bytes for each byte of STRINGS.
constexpr std::uint64_t k_names_bytes = 8ULL << 20U;
constexpr std::uint64_t k_names_factor = 6;

Result<std::vector<std::string>> split_names(std::string_view joined, std::string_view user,
                                             std::string_view field) {
  std::vector<std::string> names;
  if (joined.empty()) {
    return names;
  }
  std::vector<std::string_view> parts; // no memory is allocated for names until all are valid
  for (std::size_t start = 0; start <= joined.size();) {
    const std::size_t end = std::min(joined.find(';', start), joined.size());
    const std::string_view name = joined.substr(start, end - start);
    if (name <= (parts.empty() ? std::string_view() : parts.back())) {
      return damaged(user, "its {} are out of order or one has no name", field);
    }
    parts.push_back(name);
    start = end + 1;
  }
  names.assign(parts.begin(), parts.end());
  return names;
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
    CLBIN_TRY_ASSIGN(const SectionRecord record, read_record<SectionRecord>(reader, "directory"));
    const std::string name = to_string(record.kind);
    if (static_cast<std::uint32_t>(record.kind) <= last_kind) {
      return fail(ErrorCode::damaged, "directory: {} is out of order", name);
    }
    CLBIN_TRY(check_section_shape(record, name));
    if (record.offset != expected_offset || record.offset > body_bytes ||
        record.bytes > body_bytes - record.offset) {
      return damaged(name, "{} bytes at offset {} are not at {} or end beyond body_bytes {}",
                     record.bytes, record.offset, expected_offset, body_bytes);
    }
    expected_offset = align_up(record.offset + record.bytes);
    last_kind = static_cast<std::uint32_t>(record.kind);
    if (traits_of(record.kind) != nullptr) {
      m_known[last_kind - 1] = m_sections.size();
      m_has[last_kind - 1] = true;
      required_count += is_optional(record.kind) ? 0 : 1;
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

PageRecord Directory::page(std::uint32_t page) const {
  const ByteView record = m_bytes.view().subspan(
      m_pages_offset + std::size_t{page} * k_page_record_bytes, k_page_record_bytes);
  return read_record<PageRecord>(record, "page of the directory").value(); // it has any values
}

Result<OpenedDirectory> open_directory(const ByteSource& source, const ReadLimits& limits,
                                       TrailingBytes trailing,
                                       const std::optional<SignaturePolicy>& required) {
  CLBIN_TRY_ASSIGN(const auto prefix, read_and_check_prefix(source, limits, trailing));
  std::vector<TrailingRecord> records;
  if (required) {
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
  if (required) {
    CLBIN_TRY_ASSIGN(counter, check_signatures(prefix.first.root, records, *required));
  }
  CLBIN_TRY_ASSIGN(Directory directory,
                   Directory::parse(std::move(bytes), prefix.first.body_bytes));
  if (!required) {
    CLBIN_TRY(read_trailing_records(source, prefix.first, RecordSelection::none));
  }
  return OpenedDirectory{prefix.first, std::move(directory), counter};
}

TablePages::TablePages(std::shared_ptr<const ByteSource> source, Directory directory)
    : m_source(std::move(source)), m_directory(std::move(directory)),
      m_cache(m_directory.page_count()) {}

Result<PageSlice> TablePages::page(const SectionLayout& section, std::uint32_t page) const {
  const std::size_t slot = std::size_t{section.first_page} + page;
  {
    const std::scoped_lock lock(m_mutex);
    if (const auto& cached = m_cache[slot]) {
      return PageSlice{cached, cached->view()};
    }
  }
  CLBIN_TRY_ASSIGN(PageSlice slice, read_page(section, page));
  const std::scoped_lock lock(m_mutex);
  if (m_cache[slot] == nullptr && m_cached < k_max_cached_pages) {
    m_cache[slot] = slice.page;
    ++m_cached;
  }
  return slice;
}

Result<PageSlice> TablePages::read_page(const SectionLayout& section, std::uint32_t page) const {
  const std::string name = fmt::format("page {} of {}", page, to_string(section.record.kind));
  const std::uint64_t offset = std::uint64_t{page} * section.page_bytes;
  const std::uint64_t size = std::min<std::uint64_t>(section.page_bytes, //
                                                     section.record.bytes - offset);
  CLBIN_TRY_ASSIGN(ByteRegion region, m_source->read(section.record.offset + offset, size, name));
  const PageRecord record = m_directory.page(section.first_page + page);
  if (base::digest_of(region.view()) != record.digest) {
    return fail(ErrorCode::digest_mismatch, "{}: its digest does not match: it was changed", name);
  }
  CLBIN_TRY(check_first_key(section.record.kind, region.view(), record.first_key, name));
  auto shared = std::make_shared<const ByteRegion>(std::move(region));
  const ByteView bytes = shared->view();
  return PageSlice{std::move(shared), bytes};
}

Result<PageSlice> TablePages::record(SectionKind kind, std::uint32_t index,
                                     std::string_view user) const {
  const SectionLayout& section = m_directory.section(kind);
  if (index >= section.record.count && user.empty()) {
    return fail(ErrorCode::invalid_argument, "there is no {}: the bundle has {}",
                origin_of(kind, index), section.record.count);
  }
  if (index >= section.record.count) {
    return damaged(user, "{} {} is beyond the {} of the table", traits_of(kind)->record, index,
                   section.record.count);
  }
  const std::uint32_t per_page = section.page_bytes / section.record.record_bytes;
  CLBIN_TRY_ASSIGN(PageSlice slice, page(section, index / per_page));
  slice.bytes = slice.bytes.subspan(std::size_t{index % per_page} * section.record.record_bytes,
                                    section.record.record_bytes);
  return slice;
}

Result<void> TablePages::copy_string_bytes(std::uint64_t offset, std::size_t size_bytes,
                                           std::string& text) const {
  const SectionLayout& section = m_directory.section(SectionKind::strings);
  text.clear();
  text.reserve(size_bytes);
  while (text.size() < size_bytes) {
    const std::uint64_t at = offset + text.size();
    CLBIN_TRY_ASSIGN(const PageSlice slice,
                     page(section, static_cast<std::uint32_t>(at / k_page_bytes)));
    const ByteView rest = slice.bytes.subspan(static_cast<std::size_t>(at % k_page_bytes));
    text += base::as_text(rest.first(std::min(rest.size(), size_bytes - text.size())));
  }
  return {};
}

Result<std::string> TablePages::string(std::uint32_t offset, std::string_view user,
                                       std::string_view field) const {
  const std::uint64_t available = section_bytes(SectionKind::strings);
  if (offset > available || available - offset < k_string_head_bytes) {
    return damaged(user, "{} at offset {} is beyond the {} bytes of STRINGS", field, offset,
                   available);
  }
  std::string text;
  CLBIN_TRY(copy_string_bytes(offset, k_string_head_bytes, text));
  ByteReader head(base::as_bytes(text), "string");
  CLBIN_TRY_ASSIGN(const std::uint32_t size_bytes, head.read_u32("size"));
  const std::uint64_t left = available - offset - k_string_head_bytes;
  if (size_bytes > left || size_bytes > k_max_string_bytes) {
    return damaged(user,
                   "{} at offset {} has {} bytes, but {} of STRINGS are left and {} are allowed",
                   field, offset, size_bytes, left, k_max_string_bytes);
  }
  CLBIN_TRY(copy_string_bytes(std::uint64_t{offset} + k_string_head_bytes, size_bytes, text));
  return text;
}

template <typename Value, typename Make>
Result<std::optional<Value>> TablePages::cached(Cache<Value>& cache, std::uint32_t offset,
                                                std::uint64_t limit, const Make& make) const {
  {
    const std::scoped_lock lock(m_text_mutex);
    if (const auto found = cache.values.find(offset); found != cache.values.end()) {
      return found->second;
    }
  }
  CLBIN_TRY_ASSIGN(const auto made, make());
  const auto& [value, bytes] = made;
  const std::scoped_lock lock(m_text_mutex);
  const auto [place, is_new] = cache.values.try_emplace(offset, value);
  if (is_new && bytes > limit - cache.bytes) {
    cache.values.erase(place);
    return std::nullopt;
  }
  cache.bytes += is_new ? bytes : 0;
  return place->second;
}

Result<void> TablePages::follow(std::string_view user, std::string_view field, std::uint32_t offset,
                                SharedText& value) const {
  using Made = std::pair<SharedText, std::uint64_t>;
  const auto make = [&]() -> Result<Made> {
    CLBIN_TRY_ASSIGN(std::string text, string(offset, user, field));
    const std::uint64_t bytes = k_string_head_bytes + text.size();
    return Made(std::move(text), bytes);
  };
  CLBIN_TRY_ASSIGN(auto text, cached(m_texts, offset, section_bytes(SectionKind::strings), make));
  if (!text) {
    return fail(ErrorCode::limit_exceeded,
                "{}: {} at offset {}: the strings read so far have more bytes than STRINGS: they "
                "overlap",
                user, field, offset);
  }
  value = std::move(*text);
  return {};
}

Result<void> TablePages::follow(std::string_view user, std::string_view field, std::uint32_t offset,
                                SharedNames& value) const {
  using Made = std::pair<SharedNames, std::uint64_t>;
  const auto make = [&]() -> Result<Made> {
    SharedText text;
    CLBIN_TRY(follow(user, field, offset, text));
    CLBIN_TRY_ASSIGN(std::vector<std::string> names, split_names(text.str(), user, field));
    const std::uint64_t bytes = names.size() * sizeof(std::string);
    return Made(std::move(names), bytes);
  };
  const std::uint64_t limit = k_names_bytes + k_names_factor * section_bytes(SectionKind::strings);
  CLBIN_TRY_ASSIGN(auto names, cached(m_names, offset, limit, make));
  if (!names) {
    return fail(ErrorCode::limit_exceeded, "{}: {} at offset {}: too many short names", user, field,
                offset);
  }
  value = std::move(*names);
  return {};
}

Result<std::uint32_t> TablePages::lower_bound(SectionKind kind, std::uint32_t first,
                                              std::uint32_t count, std::uint64_t key) const {
  if (count == 0) {
    return first;
  }
  const SectionLayout& section = m_directory.section(kind);
  if (count > section.record.count || first > section.record.count - count) {
    return damaged(to_string(kind), "it has {} records, but a group has some from {} to {}",
                   section.record.count, first, std::uint64_t{first} + count - 1);
  }
  const std::uint32_t per_page = section.page_bytes / section.record.record_bytes;
  const std::uint32_t last_page = (first + (count - 1)) / per_page;
  // Finds the last page of the range whose first record is below the key, or the first page of the
  // range.
  std::uint32_t low_page = first / per_page;
  std::uint32_t high_page = last_page;
  while (low_page < high_page) {
    const std::uint32_t middle = low_page + (high_page - low_page + 1) / 2;
    if (m_directory.page(section.first_page + middle).first_key < key) {
      low_page = middle;
    } else {
      high_page = middle - 1;
    }
  }
  CLBIN_TRY_ASSIGN(const PageSlice slice, page(section, low_page));
  const std::uint32_t page_start = low_page * per_page;
  std::uint32_t low = std::max(first, page_start) - page_start;
  std::uint32_t high = low_page == last_page ? first + (count - 1) - page_start + 1 : per_page;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (key_at(slice.bytes, std::size_t{middle} * section.record.record_bytes) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return page_start + low;
}

} // namespace clbin::format
