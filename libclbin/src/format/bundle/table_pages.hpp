// The paged sections of a bundle: a page is read, and its digest and first_key checked, when it is
// first touched.
#pragma once

#include "format/bundle/bundle_directory.hpp"
#include "format/bundle/shared_text.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace clbin::format {

// Some bytes of a page, kept alive with it.
struct PageSlice {
  std::shared_ptr<const base::ByteRegion> page;
  base::ByteView bytes;
};

// Thread-safe: every const method may be called from many threads at once. The errors are those of
// BundleReader.
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

  // One page of a section, digest and first_key checked. `page` counts in the section and must be
  // below its page_count.
  [[nodiscard]] base::Result<PageSlice> page(const SectionLayout& section,
                                             std::uint32_t page) const;
  // One record. `user` names who holds the index ("entry 17"): "entry 17: blob 99 is beyond the 12
  // of the table".
  [[nodiscard]] base::Result<PageSlice> record(SectionKind kind, std::uint32_t index,
                                               std::string_view user) const;
  // The string at `offset` of STRINGS. `user` and `field` name who holds the offset.
  [[nodiscard]] base::Result<std::string> string(std::uint32_t offset, std::string_view user,
                                                 std::string_view field) const;
  // The same, read once however many records name it. limit_exceeded: the strings asked for so far
  // have more bytes than STRINGS, which they can only when they overlap.
  [[nodiscard]] base::Result<SharedText> shared_text(std::uint32_t offset, std::string_view user,
                                                     std::string_view field) const;
  // Its parts between semicolons, likewise. damaged: they do not ascend, or one is empty.
  // limit_exceeded: such lists take more than 8 MiB and 6 bytes for each of STRINGS.
  [[nodiscard]] base::Result<SharedNames> shared_names(std::uint32_t offset, std::string_view user,
                                                       std::string_view field) const;
  // The first of the records [first, first + count) whose key, the u64 that it begins with, is not
  // below `key`; first + count where none is. The range must be inside the section and is expected
  // to ascend; if it does not, the answer is some index of it.
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
  mutable std::uint64_t m_text_bytes = 0;  // of m_texts in STRINGS
  mutable std::uint64_t m_names_bytes = 0; // of m_names, without characters
};

} // namespace clbin::format
