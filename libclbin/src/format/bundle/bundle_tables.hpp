// The prefix, the directory and the tables of an untrusted bundle. After open_directory, every
// section is inside the body and every page inside its section. A page is read, and its digest and
// first_key are checked, when it is first needed.
#pragma once

#include "format/bundle/read_limits.hpp"
#include "format/bundle/signatures.hpp"

#include <mutex>
#include <unordered_map>

namespace clbin::format {

// Names of base/ in the sources that read bundles.
using base::ByteRegion;
using base::ByteSource;

struct SectionLayout {
  SectionRecord record;
  std::uint32_t first_page = 0; // among all pages of the directory
  std::uint32_t page_count = 0;
  std::uint32_t page_bytes = 0; // of every page except the last
};

// Immutable.
class Directory {
public:
  // Checks the sizes and kinds of all sections. `bytes` must be those of the directory, whose root
  // matched. Errors: damaged, truncated, unknown_required_section.
  [[nodiscard]] static Result<Directory> parse(ByteRegion bytes, std::uint64_t body_bytes);

  // A section of a known kind can be absent if it is_optional().
  [[nodiscard]] bool has(SectionKind kind) const noexcept {
    return m_has[static_cast<std::size_t>(kind) - 1];
  }
  // `kind` must be known, and present.
  [[nodiscard]] const SectionLayout& section(SectionKind kind) const noexcept {
    return m_sections[m_known[static_cast<std::size_t>(kind) - 1]];
  }
  [[nodiscard]] const std::vector<SectionLayout>& sections() const noexcept { return m_sections; }
  [[nodiscard]] std::uint32_t page_count() const noexcept { return m_page_count; }
  // `page` is an index among all pages and must be less than page_count().
  [[nodiscard]] PageRecord page(std::uint32_t page) const;

private:
  explicit Directory(ByteRegion bytes) : m_bytes(std::move(bytes)) {}
  [[nodiscard]] Result<void> read_sections(ByteReader& reader, std::uint64_t body_bytes);
  [[nodiscard]] Result<void> place_pages(ByteReader& reader);

  ByteRegion m_bytes;
  std::vector<SectionLayout> m_sections;
  std::array<std::size_t, k_known_sections> m_known{}; // kind - 1 → index in m_sections
  std::array<bool, k_known_sections> m_has{};
  std::size_t m_pages_offset = 0;
  std::uint32_t m_page_count = 0;
};

struct OpenedDirectory {
  Prefix prefix;
  Directory directory;
  // The highest counter by a trusted key; 0 if there is none, or no signature was required.
  std::uint64_t counter = 0;
};

// Reads and checks only the prefix, the directory, and the heads and padding of trailing records.
// Errors as for BundleReader::open. Parses the directory only if the signatures are those that
// `required` demands.
[[nodiscard]] Result<OpenedDirectory>
open_directory(const ByteSource& source, const ReadLimits& limits, TrailingBytes trailing,
               const std::optional<SignaturePolicy>& required = {});

// A part of a page, which keeps the page in memory.
struct PageSlice {
  std::shared_ptr<const ByteRegion> page;
  ByteView bytes;
};

// Const methods are thread-safe. Errors as for BundleReader.
class TablePages {
public:
  TablePages(std::shared_ptr<const ByteSource> source, Directory directory);

  [[nodiscard]] const Directory& directory() const noexcept { return m_directory; }
  [[nodiscard]] const ByteSource& source() const noexcept { return *m_source; }
  // Returns 0 for a section that is absent.
  [[nodiscard]] std::uint32_t count(SectionKind kind) const noexcept {
    return m_directory.has(kind) ? m_directory.section(kind).record.count : 0;
  }
  [[nodiscard]] std::uint64_t section_bytes(SectionKind kind) const noexcept {
    return m_directory.section(kind).record.bytes;
  }

  // Checks the digest and first_key of the page. `page` is an index in the section and must be less
  // than its page_count.
  [[nodiscard]] Result<PageSlice> page(const SectionLayout& section, std::uint32_t page) const;
  // Returns the bytes of one record. `user` names the record that contains the index ("entry 17")
  // in messages: "entry 17: blob 99 is beyond the 12 of the table". If it is empty, the index is
  // that of the caller, and a wrong one an invalid_argument.
  [[nodiscard]] Result<PageSlice> record(SectionKind kind, std::uint32_t index,
                                         std::string_view user = {}) const;
  // Returns the record, and calls `follow` for its references, as read_record() does.
  template <Record T, typename Follow = IgnoreReferences>
  [[nodiscard]] Result<T> read(std::uint32_t index, std::string_view user = {},
                               const Follow& follow = {}) const {
    CLBIN_TRY_ASSIGN(const PageSlice slice, record(T::k_section, index, user));
    return read_record<T>(slice.bytes, origin_of(T::k_section, index), follow);
  }
  // Returns the record with its texts and its target. Reads each text only once, even if many
  // records name it. Errors: also limit_exceeded, if the texts read so far have more bytes than
  // STRINGS, which is possible only if they overlap, or if lists of names need more than 8 MiB plus
  // 6 bytes for each byte of STRINGS; damaged, if the names of a list do not ascend or one is
  // empty.
  template <Record T>
  [[nodiscard]] Result<T> read_whole(std::uint32_t index, std::string_view user = {}) const {
    const std::string origin = origin_of(T::k_section, index);
    return read<T>(index, user, [&](std::string_view field, std::uint32_t number, auto& value) {
      return follow(origin, field, number, value);
    });
  }
  // `user` and `field` name the record and the field that contain the offset in STRINGS.
  [[nodiscard]] Result<std::string> string(std::uint32_t offset, std::string_view user,
                                           std::string_view field) const;
  // Returns the first of the records [first, first + count) whose key, its first u64, is not less
  // than `key`; first + count if there is none. The range must be inside the section, and its keys
  // should ascend. If they do not, the result is an arbitrary index of the range.
  [[nodiscard]] Result<std::uint32_t> lower_bound(SectionKind kind, std::uint32_t first,
                                                  std::uint32_t count, std::uint64_t key) const;

private:
  // Values of STRINGS by offset.
  template <typename Value>
  struct Cache {
    std::unordered_map<std::uint32_t, Value> values;
    std::uint64_t bytes = 0;
  };
  // Returns the value at `offset`, which `make` returns with its share of `limit` if it is not yet
  // known; std::nullopt if the limit is exceeded.
  template <typename Value, typename Make>
  [[nodiscard]] Result<std::optional<Value>> cached(Cache<Value>& cache, std::uint32_t offset,
                                                    std::uint64_t limit, const Make& make) const;
  // Sets `value` to the text at an offset in STRINGS, to its parts between semicolons, or to a
  // record.
  [[nodiscard]] Result<void> follow(std::string_view user, std::string_view field,
                                    std::uint32_t offset, SharedText& value) const;
  [[nodiscard]] Result<void> follow(std::string_view user, std::string_view field,
                                    std::uint32_t offset, SharedNames& value) const;
  [[nodiscard]] Result<void> follow(std::string_view user, std::string_view /*field*/,
                                    std::uint32_t index, Record auto& value) const {
    CLBIN_TRY_ASSIGN(value, read_whole<std::remove_reference_t<decltype(value)>>(index, user));
    return {};
  }
  [[nodiscard]] Result<PageSlice> read_page(const SectionLayout& section, std::uint32_t page) const;
  [[nodiscard]] Result<void> copy_string_bytes(std::uint64_t offset, std::size_t size_bytes,
                                               std::string& text) const;

  std::shared_ptr<const ByteSource> m_source;
  Directory m_directory;
  mutable std::mutex m_mutex;
  mutable std::vector<std::shared_ptr<const ByteRegion>> m_cache; // by page of the directory
  mutable std::size_t m_cached = 0;
  mutable std::mutex m_text_mutex;
  mutable Cache<SharedText> m_texts;  // bytes of STRINGS
  mutable Cache<SharedNames> m_names; // bytes without characters
};

} // namespace clbin::format
