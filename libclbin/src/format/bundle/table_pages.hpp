// The paged sections of a bundle. A page is read, and its digest and first_key are checked, when it
// is first needed.
#pragma once

#include "format/bundle/bundle_directory.hpp"
#include "format/bundle/shared_text.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace clbin::format {

// A part of a page, which keeps the page in memory.
struct PageSlice {
  std::shared_ptr<const base::ByteRegion> page;
  base::ByteView bytes;
};

// Thread-safe: every const method can be called concurrently. Errors as for BundleReader.
class TablePages {
public:
  TablePages(std::shared_ptr<const base::ByteSource> source, Directory directory);

  [[nodiscard]] const Directory& directory() const noexcept { return m_directory; }
  [[nodiscard]] const base::ByteSource& source() const noexcept { return *m_source; }
  [[nodiscard]] std::uint32_t count(SectionKind kind) const noexcept {
    return m_directory.section(kind).record.count;
  }
  [[nodiscard]] std::uint64_t section_bytes(SectionKind kind) const noexcept {
    return m_directory.section(kind).record.bytes;
  }

  // Returns one page of a section after checking its digest and first_key. `page` is an index in
  // the section and must be less than its page_count.
  [[nodiscard]] base::Result<PageSlice> page(const SectionLayout& section,
                                             std::uint32_t page) const;
  // Returns one record. `user` names the record that contains the index ("entry 17") in messages:
  // "entry 17: blob 99 is beyond the 12 of the table".
  [[nodiscard]] base::Result<PageSlice> record(SectionKind kind, std::uint32_t index,
                                               std::string_view user) const;
  // Returns the string at `offset` of STRINGS. `user` and `field` name the record and the field
  // that contain the offset.
  [[nodiscard]] base::Result<std::string> string(std::uint32_t offset, std::string_view user,
                                                 std::string_view field) const;
  // Returns the same, but reads each string only once, even if many records name it. Errors: also
  // limit_exceeded, if the strings requested so far have more bytes than STRINGS, which is possible
  // only if they overlap.
  [[nodiscard]] base::Result<SharedText> shared_text(std::uint32_t offset, std::string_view user,
                                                     std::string_view field) const;
  // Returns the parts of the string between semicolons, and reads it only once, too. Errors: also
  // damaged, if the parts do not ascend or one is empty, and limit_exceeded, if such lists need
  // more than 8 MiB plus 6 bytes for each byte of STRINGS.
  [[nodiscard]] base::Result<SharedNames> shared_names(std::uint32_t offset, std::string_view user,
                                                       std::string_view field) const;
  // Returns the first of the records [first, first + count) whose key, its first u64, is not less
  // than `key`; first + count if there is none. The range must be inside the section, and its keys
  // should ascend. If they do not, the result is an arbitrary index of the range.
  [[nodiscard]] base::Result<std::uint32_t>
  lower_bound(SectionKind kind, std::uint32_t first, std::uint32_t count, std::uint64_t key) const;

private:
  [[nodiscard]] base::Result<PageSlice> read_page(const SectionLayout& section,
                                                  std::uint32_t page) const;
  [[nodiscard]] base::Result<void> copy_string_bytes(std::uint64_t offset, std::size_t size_bytes,
                                                     std::string& text) const;

  std::shared_ptr<const base::ByteSource> m_source;
  Directory m_directory;
  mutable std::mutex m_mutex;
  mutable std::vector<std::shared_ptr<const base::ByteRegion>> m_cache; // by page of the directory
  mutable std::size_t m_cached = 0;
  mutable std::mutex m_text_mutex;
  mutable std::unordered_map<std::uint32_t, SharedText> m_texts; // by offset in STRINGS
  mutable std::unordered_map<std::uint32_t, SharedNames> m_names;
  mutable std::uint64_t m_text_bytes = 0;  // bytes of m_texts in STRINGS
  mutable std::uint64_t m_names_bytes = 0; // bytes of m_names, without characters
};

} // namespace clbin::format
