#include "support/crafted_bundle.hpp"

#include "format/bundle/bundle_tables.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace clbin::test {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using format::SectionKind;
using format::SectionRecord;

namespace {

std::size_t at(const CraftedBundle::Section& section, std::uint32_t record, std::size_t field) {
  return std::size_t{record} * section.record.record_bytes + field;
}

void append_pages(ByteWriter& pages, const SectionRecord& record, ByteView bytes) {
  if ((record.flags & format::k_section_paged) == 0) {
    return;
  }
  const std::size_t record_bytes = std::max(record.record_bytes, 1U);
  const std::size_t page_bytes =
      std::max<std::size_t>(format::k_page_bytes / record_bytes * record_bytes, 1);
  const std::size_t key = record.kind == SectionKind::target ? 16 : 0;
  const bool has_key = record.record_bytes != 0 && record.kind != SectionKind::keys &&
                       record.kind != SectionKind::requirement && record.kind != SectionKind::pack;
  for (std::size_t start = 0; start < bytes.size(); start += page_bytes) {
    const ByteView page = bytes.subspan(start, std::min(page_bytes, bytes.size() - start));
    pages.write_bytes(has_key && page.size() >= key + 8 ? page.subspan(key, 8)
                                                        : ByteView(Bytes(8)));
    pages.write_bytes(base::digest_of(page).bytes);
  }
}

Bytes little_endian(std::uint64_t value, std::size_t size_bytes) {
  ByteWriter writer;
  writer.write_u64(value);
  Bytes bytes = std::move(writer).take();
  bytes.resize(size_bytes);
  return bytes;
}

} // namespace

CraftedBundle::CraftedBundle(ByteView valid) {
  const auto source = base::memory_source(valid);
  const auto opened = format::open_directory(*source, {}, format::TrailingBytes::refuse);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  for (const format::SectionLayout& layout : opened->directory.sections()) {
    const ByteView bytes = valid.subspan(static_cast<std::size_t>(layout.record.offset),
                                         static_cast<std::size_t>(layout.record.bytes));
    sections.push_back({layout.record, Bytes(bytes.begin(), bytes.end())});
  }
}

CraftedBundle::Section& CraftedBundle::section(SectionKind kind) {
  const auto found = std::find_if(sections.begin(), sections.end(), [kind](const Section& section) {
    return section.record.kind == kind;
  });
  EXPECT_NE(found, sections.end());
  return *found;
}

void CraftedBundle::set_bytes(SectionKind kind, std::uint32_t record, std::size_t field,
                              ByteView value) {
  Section& target = section(kind);
  const std::size_t offset = at(target, record, field);
  ASSERT_LE(offset + value.size(), target.bytes.size());
  std::copy(value.begin(), value.end(), target.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

void CraftedBundle::set_u8(SectionKind kind, std::uint32_t record, std::size_t field,
                           std::uint8_t value) {
  set_bytes(kind, record, field, little_endian(value, sizeof value));
}

void CraftedBundle::set_u32(SectionKind kind, std::uint32_t record, std::size_t field,
                            std::uint32_t value) {
  set_bytes(kind, record, field, little_endian(value, sizeof value));
}

void CraftedBundle::set_u64(SectionKind kind, std::uint32_t record, std::size_t field,
                            std::uint64_t value) {
  set_bytes(kind, record, field, little_endian(value, sizeof value));
}

void CraftedBundle::swap_records(SectionKind kind, std::uint32_t a, std::uint32_t b) {
  Section& target = section(kind);
  const auto start = target.bytes.begin();
  const auto size = static_cast<std::ptrdiff_t>(target.record.record_bytes);
  std::swap_ranges(start + static_cast<std::ptrdiff_t>(at(target, a, 0)),
                   start + static_cast<std::ptrdiff_t>(at(target, a, 0)) + size,
                   start + static_cast<std::ptrdiff_t>(at(target, b, 0)));
}

std::uint32_t CraftedBundle::u32_at(SectionKind kind, std::uint32_t record, std::size_t field) {
  const Section& target = section(kind);
  ByteReader reader(ByteView(target.bytes).subspan(at(target, record, field)), "field");
  return reader.read_u32("value").value();
}

std::uint64_t CraftedBundle::u64_at(SectionKind kind, std::uint32_t record, std::size_t field) {
  const Section& target = section(kind);
  ByteReader reader(ByteView(target.bytes).subspan(at(target, record, field)), "field");
  return reader.read_u64("value").value();
}

void CraftedBundle::append_trailing(std::uint32_t kind, std::uint32_t flags, ByteView payload) {
  ByteWriter writer;
  writer.write_bytes(trailing);
  writer.write_u32(kind);
  writer.write_u32(flags);
  writer.write_u64(payload.size());
  writer.write_bytes(payload);
  writer.align(format::k_alignment);
  trailing = std::move(writer).take();
}

Bytes CraftedBundle::build() const {
  ByteWriter page_writer;
  for (const Section& each : sections) {
    append_pages(page_writer, each.record, each.bytes);
  }
  Bytes pages = std::move(page_writer).take();
  if (edit_pages) {
    edit_pages(pages);
  }
  const std::uint64_t directory_bytes = format::k_directory_head_bytes +
                                        sections.size() * format::k_section_record_bytes +
                                        pages.size();
  std::uint64_t offset = format::k_prefix_bytes + directory_bytes;
  std::vector<SectionRecord> records;
  ByteWriter body;
  for (const Section& each : sections) {
    SectionRecord record = each.record;
    record.offset = offset;
    record.bytes = each.bytes.size();
    if (record.record_bytes != 0) {
      record.count = static_cast<std::uint32_t>(record.bytes / record.record_bytes);
    }
    records.push_back(record);
    body.write_bytes(each.bytes);
    const std::uint64_t gap = format::padding_after(record.bytes);
    body.write_bytes(Bytes(static_cast<std::size_t>(gap), padding));
    offset += record.bytes + gap;
  }
  if (edit_sections) {
    edit_sections(records);
  }
  ByteWriter directory;
  directory.write_u32(static_cast<std::uint32_t>(records.size()));
  directory.write_u32(0);
  for (const SectionRecord& record : records) {
    write_record(directory, record);
  }
  directory.write_bytes(pages);

  format::Prefix prefix;
  prefix.directory_bytes = static_cast<std::uint32_t>(directory_bytes);
  prefix.body_bytes = offset;
  prefix.total_bytes = offset + trailing.size();
  if (edit_prefix) {
    edit_prefix(prefix);
  }
  ByteWriter rooted;
  write_prefix(rooted, prefix);
  prefix.root =
      format::root_of(rooted.view().first(format::k_rooted_prefix_bytes), directory.view());
  ByteWriter bundle;
  write_prefix(bundle, prefix);
  bundle.write_bytes(directory.view());
  bundle.write_bytes(body.view());
  bundle.write_bytes(trailing);
  return std::move(bundle).take();
}

} // namespace clbin::test
