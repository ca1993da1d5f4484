#include "format/bundle/table_pages.hpp"

#include <algorithm>
#include <optional>

namespace clbin::format {

using base::ByteReader;
using base::ByteRegion;
using base::ByteView;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Pages of a file are copies. Beyond this number (16 MiB), they are not cached but read again.
constexpr std::size_t k_max_cached_pages = 4096;
constexpr std::size_t k_string_head_bytes = 4;

Result<std::uint64_t> key_at(ByteView bytes, std::size_t offset) {
  ByteReader reader(bytes.subspan(offset), "record");
  return reader.read_u64("key");
}

Result<void> check_first_key(SectionKind kind, ByteView bytes, std::uint64_t first_key,
                             std::string_view name) {
  std::uint64_t expected = 0;
  if (const std::optional<std::size_t> offset = key_offset_of(kind)) {
    CLBIN_TRY_ASSIGN(expected, key_at(bytes, *offset));
  } else if (kind != SectionKind::strings && kind != SectionKind::keys) {
    return {}; // a section that this version does not know
  }
  if (first_key != expected) {
    return fail(ErrorCode::damaged, "{}: first_key is 0x{:016x}, its first record has 0x{:016x}",
                name, first_key, expected);
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
      return fail(ErrorCode::damaged, "{}: its {} are out of order or one has no name", user,
                  field);
    }
    parts.push_back(name);
    start = end + 1;
  }
  names.assign(parts.begin(), parts.end());
  return names;
}

} // namespace

TablePages::TablePages(std::shared_ptr<const base::ByteSource> source, Directory directory)
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
  CLBIN_TRY_ASSIGN(const PageRecord record, m_directory.page(section.first_page + page));
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
  if (index >= section.record.count) {
    return fail(ErrorCode::damaged, "{}: {} {} is beyond the {} of the table", user,
                record_name(kind), index, section.record.count);
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
    return fail(ErrorCode::damaged, "{}: {} at offset {} is beyond the {} bytes of STRINGS", user,
                field, offset, available);
  }
  std::string text;
  CLBIN_TRY(copy_string_bytes(offset, k_string_head_bytes, text));
  ByteReader head(base::as_bytes(text), "string");
  CLBIN_TRY_ASSIGN(const std::uint32_t size_bytes, head.read_u32("size"));
  const std::uint64_t left = available - offset - k_string_head_bytes;
  if (size_bytes > left || size_bytes > k_max_string_bytes) {
    return fail(ErrorCode::damaged,
                "{}: {} at offset {} has {} bytes, but {} of STRINGS are left and {} are allowed",
                user, field, offset, size_bytes, left, k_max_string_bytes);
  }
  CLBIN_TRY(copy_string_bytes(std::uint64_t{offset} + k_string_head_bytes, size_bytes, text));
  return text;
}

Result<SharedText> TablePages::shared_text(std::uint32_t offset, std::string_view user,
                                           std::string_view field) const {
  {
    const std::scoped_lock lock(m_text_mutex);
    if (const auto found = m_texts.find(offset); found != m_texts.end()) {
      return found->second;
    }
  }
  CLBIN_TRY_ASSIGN(std::string text, string(offset, user, field));
  const std::uint64_t bytes = k_string_head_bytes + text.size();
  // Created before the map changes, so that no empty text is left in it if memory runs out.
  const SharedText shared(std::move(text));
  const std::scoped_lock lock(m_text_mutex);
  const auto [place, is_new] = m_texts.try_emplace(offset, shared);
  if (is_new) {
    const std::uint64_t available = section_bytes(SectionKind::strings);
    if (bytes > available - m_text_bytes) {
      m_texts.erase(place);
      return fail(ErrorCode::limit_exceeded,
                  "{}: {} at offset {}: the strings read so far have more bytes than STRINGS: they "
                  "overlap",
                  user, field, offset);
    }
    m_text_bytes += bytes;
  }
  return place->second;
}

Result<SharedNames> TablePages::shared_names(std::uint32_t offset, std::string_view user,
                                             std::string_view field) const {
  {
    const std::scoped_lock lock(m_text_mutex);
    if (const auto found = m_names.find(offset); found != m_names.end()) {
      return found->second;
    }
  }
  CLBIN_TRY_ASSIGN(const SharedText text, shared_text(offset, user, field));
  CLBIN_TRY_ASSIGN(std::vector<std::string> names, split_names(text.str(), user, field));
  const std::uint64_t bytes = names.size() * sizeof(std::string);
  const SharedNames shared(std::move(names));
  const std::scoped_lock lock(m_text_mutex);
  const auto [place, is_new] = m_names.try_emplace(offset, shared);
  if (is_new) {
    const std::uint64_t limit =
        k_names_bytes + k_names_factor * section_bytes(SectionKind::strings);
    if (bytes > limit - m_names_bytes) {
      m_names.erase(place);
      return fail(ErrorCode::limit_exceeded, "{}: {} at offset {}: too many short names", user,
                  field, offset);
    }
    m_names_bytes += bytes;
  }
  return place->second;
}

Result<std::uint32_t> TablePages::lower_bound(SectionKind kind, std::uint32_t first,
                                              std::uint32_t count, std::uint64_t key) const {
  if (count == 0) {
    return first;
  }
  const SectionLayout& section = m_directory.section(kind);
  const std::uint32_t per_page = section.page_bytes / section.record.record_bytes;
  const std::uint32_t last_page = (first + (count - 1)) / per_page;
  // Finds the last page of the range whose first record is below the key, or the first page of the
  // range.
  std::uint32_t low_page = first / per_page;
  std::uint32_t high_page = last_page;
  while (low_page < high_page) {
    const std::uint32_t middle = low_page + (high_page - low_page + 1) / 2;
    CLBIN_TRY_ASSIGN(const std::uint64_t first_key,
                     m_directory.first_key(section.first_page + middle));
    if (first_key < key) {
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
    CLBIN_TRY_ASSIGN(const std::uint64_t middle_key,
                     key_at(slice.bytes, std::size_t{middle} * section.record.record_bytes));
    if (middle_key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return page_start + low;
}

} // namespace clbin::format
