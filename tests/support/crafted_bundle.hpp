// Takes a valid bundle apart and rebuilds it with an error, and with valid digests. An attacker can
// make such a bundle, but a flipped bit cannot.
#pragma once

#include "format/bundle/bundle_layout.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace clbin::test {

class CraftedBundle {
public:
  struct Section {
    format::SectionRecord record; // build() sets offset and bytes
    base::Bytes bytes;
  };

  explicit CraftedBundle(base::ByteView valid);

  [[nodiscard]] Section& section(format::SectionKind kind);
  // Overwrites a field of a record.
  void set_u8(format::SectionKind kind, std::uint32_t record, std::size_t field,
              std::uint8_t value);
  void set_u32(format::SectionKind kind, std::uint32_t record, std::size_t field,
               std::uint32_t value);
  void set_u64(format::SectionKind kind, std::uint32_t record, std::size_t field,
               std::uint64_t value);
  void set_bytes(format::SectionKind kind, std::uint32_t record, std::size_t field,
                 base::ByteView value);
  void swap_records(format::SectionKind kind, std::uint32_t a, std::uint32_t b);
  [[nodiscard]] std::uint32_t u32_at(format::SectionKind kind, std::uint32_t record,
                                     std::size_t field);
  [[nodiscard]] std::uint64_t u64_at(format::SectionKind kind, std::uint32_t record,
                                     std::size_t field);
  // Appends a trailing record.
  void append_trailing(std::uint32_t kind, std::uint32_t flags, base::ByteView payload);

  [[nodiscard]] base::Bytes build() const;

  std::vector<Section> sections;
  base::Bytes trailing;
  // Called while building, with the values that build() computed.
  std::function<void(std::vector<format::SectionRecord>&)> edit_sections;
  std::function<void(base::Bytes& pages)> edit_pages;
  std::function<void(format::Prefix&)> edit_prefix; // before the root is computed
  std::byte padding{0};                             // between sections
};

} // namespace clbin::test
