// The prefix and directory of an untrusted bundle. After open_directory, every section is inside
// the body and every page inside its section.
#pragma once

#include "base/file_io.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/read_limits.hpp"

#include <array>
#include <vector>

namespace clbin::format {

struct SignaturePolicy;

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
  [[nodiscard]] static base::Result<Directory> parse(base::ByteRegion bytes,
                                                     std::uint64_t body_bytes);

  // KEYS is the only section of a known kind that can be absent.
  [[nodiscard]] bool has_keys() const noexcept { return m_has_keys; }
  // `kind` must be known, and present.
  [[nodiscard]] const SectionLayout& section(SectionKind kind) const noexcept {
    return m_sections[m_known[static_cast<std::size_t>(kind) - 1]];
  }
  [[nodiscard]] const std::vector<SectionLayout>& sections() const noexcept { return m_sections; }
  [[nodiscard]] std::uint32_t page_count() const noexcept { return m_page_count; }
  // `page` is an index among all pages and must be less than page_count().
  [[nodiscard]] base::Result<PageRecord> page(std::uint32_t page) const;
  [[nodiscard]] base::Result<std::uint64_t> first_key(std::uint32_t page) const;

private:
  explicit Directory(base::ByteRegion bytes) : m_bytes(std::move(bytes)) {}
  [[nodiscard]] base::Result<void> read_sections(base::ByteReader& reader,
                                                 std::uint64_t body_bytes);
  [[nodiscard]] base::Result<void> place_pages(base::ByteReader& reader);

  base::ByteRegion m_bytes;
  std::vector<SectionLayout> m_sections;
  std::array<std::size_t, k_known_sections> m_known{}; // kind - 1 → index in m_sections
  bool m_has_keys = false;
  std::size_t m_pages_offset = 0;
  std::uint32_t m_page_count = 0;
};

// The part of the bundle before the body.
struct OpenedDirectory {
  Prefix prefix;
  Directory directory;
  // The highest counter by a trusted key; 0 if there is none, or no signature was required.
  std::uint64_t counter = 0;
};

// Reads and checks only the prefix, the directory, and the heads and padding of trailing records.
// Errors as for BundleReader::open. If `required` is not null, parses the directory only if the
// signatures are those that it requires.
[[nodiscard]] base::Result<OpenedDirectory>
open_directory(const base::ByteSource& source, const ReadLimits& limits, TrailingBytes trailing,
               const SignaturePolicy* required = nullptr);

} // namespace clbin::format
