// Bundles with valid digests that break one rule of clbin(5), as an attacker can make them.
#include "format/bundle/bundle_reader.hpp"

#include "format/bundle/bundle_writer.hpp"

#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using testing::HasSubstr;
using testing::StartsWith;

// Offsets of fields in their records.
constexpr std::size_t k_group_name_hash = 0;
constexpr std::size_t k_group_program = 8;
constexpr std::size_t k_group_options = 16;
constexpr std::size_t k_group_first_entry = 20;
constexpr std::size_t k_group_entry_count = 24;
constexpr std::size_t k_group_source_blob = 28;
constexpr std::size_t k_group_manifest_blob = 32;
constexpr std::size_t k_group_zero = 36;
constexpr std::size_t k_entry_target = 8;
constexpr std::size_t k_entry_blob = 12;
constexpr std::size_t k_entry_kernels = 16;
constexpr std::size_t k_entry_options = 20;
constexpr std::size_t k_entry_kind = 24;
constexpr std::size_t k_entry_type = 26;
constexpr std::size_t k_entry_manifest_row = 28;
constexpr std::size_t k_exact_entry = 8;
constexpr std::size_t k_target_flags = 2;
constexpr std::size_t k_target_device_name = 52;
constexpr std::size_t k_blob_raw_digest = 0;
constexpr std::size_t k_blob_offset = 64;
constexpr std::size_t k_blob_stored_bytes = 72;
constexpr std::size_t k_blob_raw_bytes = 80;
constexpr std::size_t k_blob_reference = 88;
constexpr std::size_t k_blob_codec = 92;
constexpr std::size_t k_blob_flags = 93;

Bytes sample_to_verify() {
  static const Bytes bytes = test::must_write(test::sample_input());
  return bytes;
}

test::CraftedBundle sample() {
  return test::CraftedBundle(sample_to_verify());
}

// Returns the error of opening, or if opening succeeds, of verifying.
base::Error error_of(const Bytes& bytes) {
  const auto reader = test::open_bytes(bytes);
  if (!reader) {
    return reader.error();
  }
  const auto verified = reader->verify();
  EXPECT_FALSE(verified.has_value());
  // Other functions must not crash either.
  (void)test::contents_of(*reader);
  return verified ? base::Error{} : verified.error();
}

base::Error error_of(const test::CraftedBundle& crafted) {
  return error_of(crafted.build());
}

void expect_damaged(const test::CraftedBundle& crafted, std::string_view message) {
  const base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::damaged) << error.message;
  EXPECT_THAT(error.message, HasSubstr(message));
}

std::uint32_t blob_with_reference(const BundleReader& reader) {
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    if (reader.blob(i)->reference != k_no_index) {
      return i;
    }
  }
  ADD_FAILURE() << "no blob has a reference";
  return 0;
}

TEST(BundleVerify, AcceptsTheSample) {
  EXPECT_TRUE(test::must_open(sample().build()).verify().has_value());
  EXPECT_EQ(sample().build(), sample_to_verify());
}

// ---- Prefix and directory ----

TEST(BundleVerify, RefusesSizesThatContradict) {
  test::CraftedBundle crafted = sample();
  crafted.edit_prefix = [](Prefix& prefix) { prefix.body_bytes = prefix.total_bytes + 8; };
  expect_damaged(crafted, "is above total_bytes");
  crafted.edit_prefix = [](Prefix& prefix) { prefix.body_bytes -= 4; };
  expect_damaged(crafted, "are not multiples of 8");
  crafted.edit_prefix = [](Prefix& prefix) { prefix.body_bytes = 56; };
  expect_damaged(crafted, "does not fit into body_bytes 56");
  crafted.edit_prefix = [](Prefix& prefix) { prefix.directory_bytes = 1U << 20U; };
  expect_damaged(crafted, "does not fit into body_bytes");
  crafted.edit_prefix = [](Prefix& prefix) { prefix.total_bytes = ~std::uint64_t{7}; };
  EXPECT_EQ(error_of(crafted).code, ErrorCode::truncated);
  crafted.edit_prefix = [](Prefix& prefix) {
    prefix.total_bytes = ~std::uint64_t{7};
    prefix.body_bytes = ~std::uint64_t{7};
  };
  EXPECT_EQ(error_of(crafted).code, ErrorCode::truncated);
  crafted.edit_prefix = [](Prefix& prefix) { prefix.directory_bytes = 0; };
  EXPECT_EQ(error_of(crafted).code, ErrorCode::digest_mismatch);
}

TEST(BundleVerify, RefusesSectionsThatOverlapOrLeaveTheBody) {
  test::CraftedBundle crafted = sample();
  crafted.edit_sections = [](auto& records) { records[1].offset = records[0].offset; };
  expect_damaged(crafted, "ENTRY: ");
  crafted.edit_sections = [](auto& records) { records[6].bytes = ~std::uint64_t{0} - 100; };
  expect_damaged(crafted, "PAYLOAD: 18446744073709551515 bytes at offset");
  crafted.edit_sections = [](auto& records) { records[6].bytes -= 8; };
  expect_damaged(crafted, "directory: its sections end at");
  crafted.edit_sections = [](auto& records) { records[6].offset = ~std::uint64_t{7}; };
  expect_damaged(crafted, "PAYLOAD: ");
}

TEST(BundleVerify, RefusesRecordCountsThatOverflow) {
  test::CraftedBundle crafted = sample();
  // 0x08000001 x 32 bytes overflows to 32 in 32 bits.
  crafted.section(SectionKind::entry).bytes.resize(32);
  crafted.edit_sections = [](auto& records) { records[1].count = 0x08000001U; };
  expect_damaged(crafted, "ENTRY: 32 bytes are not 134217729 records of 32");
  crafted = sample();
  crafted.edit_sections = [](auto& records) { records[1].record_bytes = 16; };
  expect_damaged(crafted, "ENTRY: record_bytes is 16, expected 32");
  crafted.edit_sections = [](auto& records) { records[5].record_bytes = 1; };
  expect_damaged(crafted, "STRINGS: record_bytes is 1, expected 0");
}

TEST(BundleVerify, RefusesSectionsOutOfOrderOrMissing) {
  test::CraftedBundle crafted = sample();
  std::swap(crafted.sections[0], crafted.sections[1]);
  expect_damaged(crafted, "directory: GROUP is out of order");
  crafted = sample();
  crafted.sections.erase(crafted.sections.begin() + 2);
  expect_damaged(crafted, "directory: only 6 of the 7 required sections are present");
  crafted = sample();
  crafted.sections.insert(crafted.sections.begin() + 1, crafted.sections[1]);
  expect_damaged(crafted, "directory: ENTRY is out of order");
  crafted = sample();
  crafted.sections.clear();
  expect_damaged(crafted, "directory: only 0 of the 7 required sections are present");
}

TEST(BundleVerify, RefusesFlagsThatMustNotBe) {
  test::CraftedBundle crafted = sample();
  crafted.edit_sections = [](auto& records) { records[0].flags |= 4U; };
  expect_damaged(crafted, "GROUP: flags 0x7 has bits that must be zero");
  crafted.edit_sections = [](auto& records) { records[0].flags = k_section_paged; };
  expect_damaged(crafted, "GROUP: its flags do not mark it as required");
  crafted.edit_sections = [](auto& records) { records[0].flags = k_section_required; };
  expect_damaged(crafted, "GROUP: every section but PAYLOAD has pages");
  crafted.edit_sections = [](auto& records) { records[6].flags |= k_section_paged; };
  expect_damaged(crafted, "PAYLOAD: every section but PAYLOAD has pages");
  crafted.edit_sections = [](auto& records) { records[6].count = 1; };
  expect_damaged(crafted, "PAYLOAD: count is 1, expected 0");
}

TEST(BundleVerify, RefusesPagesThatDoNotTile) {
  test::CraftedBundle crafted = sample();
  crafted.edit_pages = [](Bytes& pages) { pages.resize(pages.size() - 40); };
  expect_damaged(crafted, "directory: STRINGS has 1 pages, but 0 are left");
  crafted.edit_pages = [](Bytes& pages) { pages.resize(pages.size() + 40); };
  expect_damaged(crafted, "directory: 40 unknown bytes");
}

TEST(BundleVerify, RefusesAFirstKeyThatIsNotThatOfTheFirstRecord) {
  test::CraftedBundle crafted = sample();
  crafted.edit_pages = [](Bytes& pages) { pages[0] ^= std::byte{1}; };
  expect_damaged(crafted, "page 0 of GROUP: first_key is 0x");
  crafted.edit_pages = [](Bytes& pages) { pages[pages.size() - 40] ^= std::byte{1}; };
  expect_damaged(crafted, "page 0 of STRINGS: first_key is 0x");
}

TEST(BundleVerify, RefusesTooManySections) {
  test::CraftedBundle crafted = sample();
  for (std::uint32_t kind = 100; kind < 160; ++kind) {
    crafted.sections.push_back({{static_cast<SectionKind>(kind), k_section_paged, 0, 0, 0, 0}, {}});
  }
  expect_damaged(crafted, "directory: section_count 67 is above 64");
}

TEST(BundleVerify, RefusesPaddingThatIsNotZero) {
  test::CraftedBundle crafted = sample();
  crafted.padding = std::byte{1};
  expect_damaged(crafted, "the end of STRINGS: padding");
}

// ---- Trailing records ----

TEST(BundleVerify, RefusesTrailingRecordsThatDoNotTile) {
  test::CraftedBundle crafted = sample();
  crafted.append_trailing(77, 0, test::random_bytes(8, 1));
  crafted.trailing[8] = std::byte{9}; // bytes: beyond the end
  expect_damaged(crafted, "trailing record 0: bytes 9 is beyond the 8 left");
  crafted.trailing[15] = std::byte{0xff};
  expect_damaged(crafted, "trailing record 0: bytes 18374686479671623689 is beyond the 8 left");
  crafted = sample();
  crafted.trailing.resize(8);
  expect_damaged(crafted, "trailing record 0: 8 bytes are left, but its header has 16");
  crafted.trailing.resize(16);
  expect_damaged(crafted, "trailing record 0: kind 0 with flags 0x0 is not allowed");
  crafted = sample();
  crafted.append_trailing(77, 2, {});
  expect_damaged(crafted, "trailing record 0: kind 77 with flags 0x2 is not allowed");
  crafted = sample();
  crafted.append_trailing(77, 0, test::random_bytes(5, 1));
  crafted.trailing.back() = std::byte{1};
  expect_damaged(crafted, "trailing record 0: padding");
  crafted = sample();
  crafted.append_trailing(1, 0, test::random_bytes(88, 1));
  expect_damaged(crafted, "trailing record 0: a signature has 96 bytes, not 88");
  crafted = sample();
  for (int i = 0; i < 17; ++i) {
    crafted.append_trailing(77, 0, {});
  }
  expect_damaged(crafted, "more than 16 trailing records");
}

// ---- GROUP ----

TEST(BundleVerify, RefusesGroupRangesBeyondTheEntries) {
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::group, 0, k_group_entry_count, 99);
  expect_damaged(crafted, "group 0: 99 entries from 0 on are beyond the 7 of the table");
  crafted = sample();
  crafted.set_u32(SectionKind::group, 0, k_group_first_entry, 0xffffffffU);
  crafted.set_u32(SectionKind::group, 0, k_group_entry_count, 2);
  expect_damaged(crafted, "group 0: 2 entries from 4294967295 on are beyond the 7");
}

TEST(BundleVerify, RefusesGroupsThatDoNotTileTheEntries) {
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::group, 1, k_group_first_entry, 0);
  expect_damaged(crafted, "group 1: first_entry is 0, expected");
  crafted = sample();
  const std::uint32_t count = crafted.u32_at(SectionKind::group, 2, k_group_entry_count);
  crafted.set_u32(SectionKind::group, 2, k_group_entry_count, count - 1);
  EXPECT_THAT(error_of(crafted).message, HasSubstr("of its group"));
}

TEST(BundleVerify, RefusesRequirementsThatAreNotThoseOfGroups) {
  BundleInput input = test::sample_input();
  input.programs[0].variants[0].required = {"a"};
  input.programs[0].variants[1].required = {"b"};
  const test::CraftedBundle good(test::must_write(input));
  EXPECT_TRUE(test::must_open(good.build()).verify().has_value());
  test::CraftedBundle crafted = good;
  crafted.swap_records(SectionKind::requirement, 0, 1);
  expect_damaged(crafted, "requirement 1: its group is out of order");
  crafted = good;
  crafted.set_u32(SectionKind::requirement, 1, 0, 3);
  expect_damaged(crafted, "requirement 1: group 3 is beyond the 3 of the table");
  EXPECT_EQ(test::must_open(crafted.build()).groups_with_requirements("matmul").error().code,
            ErrorCode::damaged);
  crafted = good;
  crafted.set_u32(SectionKind::requirement, 0, 4, 0); // the empty string
  expect_damaged(crafted, "requirement 0: it names no extension");
  crafted = good;
  crafted.set_u32(SectionKind::requirement, 0, 4, 1);
  EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
}

PackRecord pack_of(const char* name, std::uint64_t target_key, std::string_view contents) {
  return {7, target_key, base::digest_of(test::bytes_of(contents)), name};
}

Bytes base_with_packs() {
  WriteOptions options{1};
  options.packs = {pack_of("b", 1, "two"), pack_of("a", 3, "one"), pack_of("a", 2, "one")};
  return write_bundle(test::sample_input(), options).value();
}

TEST(BundleVerify, ListsThePacksInOrder) {
  test::CraftedBundle crafted(base_with_packs());
  const BundleReader reader = test::must_open(base_with_packs());
  EXPECT_TRUE(reader.verify().has_value());
  EXPECT_EQ(reader.prefix().minor, 3);
  ASSERT_TRUE(reader.has_packs());
  const auto packs = reader.packs().value();
  ASSERT_EQ(packs.size(), 3U);
  EXPECT_EQ(packs[0].name, "a");
  EXPECT_EQ(packs[1].name, "a");
  EXPECT_EQ(packs[2].name, "b");
  EXPECT_EQ(packs[2].root, base::digest_of(test::bytes_of("two")));
  EXPECT_EQ(packs[1].target_key, 3U);
  EXPECT_EQ(packs[2].match_key, 7U);
  // A reader that does not know the section skips it.
  EXPECT_EQ(crafted.section(SectionKind::pack).record.flags, k_section_paged);
  EXPECT_FALSE(test::must_open(sample_to_verify()).has_packs());
}

TEST(BundleVerify, RefusesPacksThatBreakARule) {
  constexpr std::size_t k_root = 16;
  constexpr std::size_t k_name = 48;
  constexpr std::size_t k_reserved = 52;
  test::CraftedBundle crafted(base_with_packs());
  crafted.swap_records(SectionKind::pack, 1, 2);
  expect_damaged(crafted, "pack 2: it is out of order");
  crafted = test::CraftedBundle(base_with_packs());
  crafted.set_u8(SectionKind::pack, 0, k_root, 0);
  crafted.set_u8(SectionKind::pack, 1, k_root, 1);
  expect_damaged(crafted, "pack 1: it has another root than the record before");
  crafted = test::CraftedBundle(base_with_packs());
  crafted.set_u8(SectionKind::pack, 2, k_reserved, 1);
  EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
  crafted = test::CraftedBundle(base_with_packs());
  crafted.set_u32(SectionKind::pack, 0, k_name, 0);
  expect_damaged(crafted, "pack 0: '' is not the name of a pack");
  EXPECT_EQ(test::must_open(crafted.build()).packs().error().code, ErrorCode::damaged);
}

// The name becomes that of a file.
TEST(BundleVerify, AcceptsNoNameOfAPackThatLeavesItsFolder) {
  for (const char* name : {"a", "9", "nvidia-sm_7x", "a..b", "intel-12.60.7"}) {
    EXPECT_TRUE(is_pack_name(name)) << name;
  }
  EXPECT_TRUE(is_pack_name(std::string(100, 'a')));
  EXPECT_FALSE(is_pack_name(std::string(101, 'a')));
  EXPECT_FALSE(is_pack_name(std::string_view("a\0b", 3)));
  for (const char* name : {"", "base", "A", ".", "..", "../a", "/a", "a/b", "a\\b", "-a", "_a",
                           "a b", "a:b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_pack_name(name)) << name;
  }
  WriteOptions options{1};
  options.packs = {pack_of("../b", 1, "two")};
  EXPECT_EQ(write_bundle(test::sample_input(), options).error().code, ErrorCode::invalid_argument);
  options.packs = {pack_of("a..b", 1, "two")};
  test::CraftedBundle crafted(write_bundle(test::sample_input(), options).value());
  base::Bytes& strings = crafted.section(SectionKind::strings).bytes;
  const base::Bytes name = test::bytes_of("a..b");
  const base::Bytes replacement = test::bytes_of("../b");
  const auto at = std::search(strings.begin(), strings.end(), name.begin(), name.end());
  ASSERT_NE(at, strings.end());
  std::ranges::copy(replacement, at);
  EXPECT_EQ(test::must_open(crafted.build()).packs().error().message,
            "pack 0: '../b' is not the name of a pack");
}

TEST(BundleVerify, RefusesGroupsOutOfOrder) {
  test::CraftedBundle crafted = sample();
  crafted.swap_records(SectionKind::group, 0, 2);
  EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
}

TEST(BundleVerify, RefusesAWrongNameHash) {
  test::CraftedBundle crafted = sample();
  const std::uint64_t hash = crafted.u64_at(SectionKind::group, 0, k_group_name_hash);
  crafted.set_u64(SectionKind::group, 0, k_group_name_hash, hash + 1);
  expect_damaged(crafted, "group 0: name_hash is not that of program");
}

TEST(BundleVerify, RefusesGroupFieldsThatPointNowhere) {
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::group, 0, k_group_program, 1U << 30U);
  expect_damaged(crafted, "group 0: program: no string begins at offset 1073741824");
  EXPECT_EQ(test::must_open(crafted.build()).group(0).error().message,
            fmt::format("group 0: program at offset 1073741824 is beyond the {} bytes of STRINGS",
                        crafted.section(SectionKind::strings).bytes.size()));
  crafted = sample();
  crafted.set_u32(SectionKind::group, 0, k_group_program, 0);
  expect_damaged(crafted, "group 0: program or variant is empty or contains a zero byte");
  crafted = sample();
  crafted.set_u32(SectionKind::group, 0, k_group_options, 1);
  expect_damaged(crafted, "group 0: options: no string begins at offset 1");
  crafted = sample();
  crafted.set_u32(SectionKind::group, 1, k_group_manifest_blob, 99);
  expect_damaged(crafted, "group 1: manifest_blob 99 is beyond the 8 of the table");
  crafted = sample();
  crafted.set_u32(SectionKind::group, 1, k_group_source_blob, 99);
  expect_damaged(crafted, "group 1: source_blob 99 is beyond the 8 of the table");
  crafted = sample();
  crafted.set_u32(SectionKind::group, 2, k_group_zero, 1);
  expect_damaged(crafted, "group 2: the last field at offset 36 is 0x01 and not zero");
}

TEST(BundleVerify, RefusesVariantsOfAProgramThatDisagree) {
  test::CraftedBundle crafted = sample();
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView fast = reader.find_group("matmul", "fast").value();
  crafted.set_u32(SectionKind::group, fast.index, k_group_source_blob, k_no_index);
  expect_damaged(crafted, "its source or manifest is not that of group");
}

TEST(BundleVerify, RefusesAManifestThatHasAReference) {
  test::CraftedBundle crafted = sample();
  const BundleReader reader = test::must_open(sample_to_verify());
  const std::uint32_t blob = blob_with_reference(reader);
  crafted.set_u32(SectionKind::group, 0, k_group_manifest_blob, blob);
  expect_damaged(crafted, fmt::format("group 0: manifest_blob {} has a reference", blob));
}

// ---- ENTRY and EXACT ----

TEST(BundleVerify, RefusesEntryIndicesBeyondTheirTables) {
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::entry, 3, k_entry_blob, 99);
  expect_damaged(crafted, "entry 3: blob 99 is beyond the 8 of the table");
  crafted = sample();
  crafted.set_u32(SectionKind::entry, 3, k_entry_target, 99);
  expect_damaged(crafted, "entry 3: target 99 is beyond the 5 of the table");
  crafted = sample();
  crafted.set_u32(SectionKind::entry, 3, k_entry_kernels, 0xfffffffdU);
  expect_damaged(crafted, "entry 3: kernels at offset 4294967293 is beyond the");
  crafted = sample();
  crafted.set_u32(SectionKind::entry, 3, k_entry_manifest_row, 99);
  const base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_THAT(error.message, HasSubstr("entry 3 names row 99, but it has"));
}

TEST(BundleVerify, RefusesEntryFieldsThatContradict) {
  test::CraftedBundle crafted = sample();
  crafted.set_u8(SectionKind::entry, 0, k_entry_kind, 13);
  expect_damaged(crafted, "entry 0: kind 13 is not that of match_key 0x");
  crafted = sample();
  crafted.set_u8(SectionKind::entry, 0, k_entry_type, 0);
  expect_damaged(crafted, "entry 0: type is 0");
}

TEST(BundleVerify, ShowsATypeThatIsNotKnown) {
  test::CraftedBundle crafted = sample();
  crafted.set_u8(SectionKind::entry, 0, k_entry_type, 9);
  const BundleReader reader = test::must_open(crafted.build());
  EXPECT_EQ(static_cast<int>(reader.entry(0)->type), 9);
  EXPECT_TRUE(reader.verify().has_value());
}

TEST(BundleVerify, RefusesEntriesOutOfOrder) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  test::CraftedBundle crafted = sample();
  crafted.swap_records(SectionKind::entry, group.first_entry, group.first_entry + 2);
  expect_damaged(crafted, "it is out of order");
}

TEST(BundleVerify, RefusesARowOfAnotherEntry) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::entry, group.first_entry, k_entry_manifest_row, 1);
  base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_THAT(error.message, StartsWith("manifest of program 'matmul': row 1: its raw digest is"));
  crafted.set_u32(SectionKind::entry, group.first_entry, k_entry_manifest_row, 3);
  error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_EQ(error.message,
            "manifest of program 'matmul': row 3: its variant is 'fast', the table has 'default'");
}

TEST(BundleVerify, RefusesATableThatTellsOtherThanTheManifest) {
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::entry, 0, k_entry_options, 0);
  base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_THAT(error.message, HasSubstr("its options are '-DN=4', the table has ''"));
  crafted = sample();
  crafted.set_u32(SectionKind::entry, 0, k_entry_kernels, 0);
  error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_THAT(error.message, HasSubstr("its kernels are not those of the table"));
}

// Every field of TARGET that the manifest repeats.
TEST(BundleVerify, RefusesATargetThatContradictsTheManifest) {
  struct Field {
    std::size_t offset;
    std::string_view told;
  };
  const Field fields[] = {
      {0, ": family is "},
      {k_target_flags, "its target is not that of the table"},
      {4, ": architecture is "},
      {8, ": address_bits is 65, but the manifest records 64 for entry "},
      {12, ": features is 1, but the manifest records 0 for entry "},
      {48, ": platform_name is 'add;multiply', but the manifest records '"},
      {k_target_device_name, ": device_name is 'add;multiply', but the manifest records '"},
      {56, ": driver_version is 'add;multiply', but the manifest records '"},
      {60, ": spec is 'add;multiply', but the manifest records '"},
  };
  constexpr std::size_t k_first_text = 48;
  const std::uint32_t kernels = sample().u32_at(SectionKind::entry, 0, k_entry_kernels);
  for (const Field& field : fields) {
    for (std::uint32_t target = 0; target < 5; ++target) {
      test::CraftedBundle crafted = sample();
      const std::uint32_t old = crafted.u32_at(SectionKind::target, target, field.offset);
      crafted.set_u32(SectionKind::target, target, field.offset,
                      field.offset >= k_first_text ? kernels : old ^ 1U);
      const base::Error error = error_of(crafted);
      EXPECT_EQ(error.code, ErrorCode::manifest_invalid) << error.message;
      EXPECT_THAT(error.message, HasSubstr(std::string(field.told)));
    }
  }
}

TEST(BundleVerify, RefusesARowThatTwoEntriesName) {
  test::CraftedBundle crafted = sample();
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  for (std::uint32_t i = 1; i < group.entry_count; ++i) {
    const std::uint32_t entry = group.first_entry + i;
    for (const std::size_t field : {k_entry_target, k_entry_blob, k_entry_manifest_row}) {
      crafted.set_u32(SectionKind::entry, entry, field,
                      crafted.u32_at(SectionKind::entry, group.first_entry, field));
    }
  }
  const auto changed = test::open_bytes(crafted.build());
  ASSERT_TRUE(changed.has_value());
  const auto manifest = changed->read_manifest(changed->find_group("matmul", "default").value());
  ASSERT_FALSE(manifest.has_value());
  EXPECT_EQ(manifest.error().code, ErrorCode::manifest_invalid);
  EXPECT_EQ(
      manifest.error().message,
      fmt::format("manifest of program 'matmul': entry {} names row {}, which another entry "
                  "names",
                  group.first_entry + 1,
                  crafted.u32_at(SectionKind::entry, group.first_entry, k_entry_manifest_row)));
}

// Every look-up detects this, not only verify.
TEST(BundleVerify, RefusesKernelsOutOfOrderOrWithoutAName) {
  for (const std::string_view changed :
       {"zdd;multiply", "add;;ultiply", ";dd;multiply", "add;multipl;", ";;;;;;;;;;;;"}) {
    test::CraftedBundle crafted = sample();
    Bytes& strings = crafted.section(SectionKind::strings).bytes;
    const std::size_t at = base::as_text(strings).find("add;multiply");
    ASSERT_NE(at, std::string::npos);
    const ByteView bytes = base::as_bytes(changed);
    std::copy(bytes.begin(), bytes.end(), strings.begin() + static_cast<std::ptrdiff_t>(at));
    const auto entry = test::must_open(crafted.build()).entry(0);
    ASSERT_FALSE(entry.has_value()) << changed;
    EXPECT_EQ(entry.error().code, ErrorCode::damaged);
    EXPECT_EQ(entry.error().message, "entry 0: its kernels are out of order or one has no name");
    EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
  }
}

// Each of 20,000 rows once created a view.
TEST(BundleVerify, RefusesEqualExactRowsAndEntriesOfOneTargetAndKindInALookUp) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  const EntryView entry = reader.entry(group.first_entry).value();
  test::CraftedBundle crafted = sample();
  const std::uint64_t key = base::leading_u64(entry.target.digest);
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    crafted.set_u64(SectionKind::exact, group.first_entry + i, 0, key);
    crafted.set_u32(SectionKind::exact, group.first_entry + i, k_exact_entry, entry.index);
  }
  auto found = test::must_open(crafted.build()).find_exact(group, entry.target.digest);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::damaged);
  EXPECT_EQ(found.error().message,
            fmt::format("exact record {}: it is out of order", group.first_entry + 1));

  const std::uint32_t target = crafted.u32_at(SectionKind::entry, entry.index, k_entry_target);
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    crafted.set_u32(SectionKind::exact, group.first_entry + i, k_exact_entry,
                    group.first_entry + i);
    crafted.set_u32(SectionKind::entry, group.first_entry + i, k_entry_target, target);
  }
  found = test::must_open(crafted.build()).find_exact(group, entry.target.digest);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::damaged);
  EXPECT_EQ(found.error().message,
            fmt::format("entry {}: an entry before it has the same target and kind",
                        group.first_entry + 1));
}

TEST(BundleVerify, RefusesAnExactIndexThatPointsElsewhere) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  test::CraftedBundle crafted = sample();
  const std::uint32_t other = group.first_entry == 0 ? group.first_entry + group.entry_count : 0;
  crafted.set_u32(SectionKind::exact, group.first_entry, k_exact_entry, other);
  const std::string message =
      fmt::format("exact record {}: entry {} is not one of its group", group.first_entry, other);
  expect_damaged(crafted, message);
  const std::uint64_t key = crafted.u64_at(SectionKind::exact, group.first_entry, 0);
  base::Digest digest;
  for (std::uint32_t i = 0; i < group.entry_count; ++i) {
    const base::Digest candidate = reader.entry(group.first_entry + i, group)->target.digest;
    digest = base::leading_u64(candidate) == key ? candidate : digest;
  }
  EXPECT_EQ(test::must_open(crafted.build()).find_exact(group, digest).error().message, message);

  crafted = sample();
  crafted.set_u32(SectionKind::exact, group.first_entry, k_exact_entry, 0xffffffffU);
  expect_damaged(crafted, "entry 4294967295 is not one of its group");
  crafted = sample();
  crafted.set_u64(SectionKind::exact, group.first_entry, 0, 0);
  expect_damaged(crafted, "target_key is not that of entry");
  crafted = sample();
  crafted.swap_records(SectionKind::exact, group.first_entry, group.first_entry + 1);
  expect_damaged(crafted, "is out of order");
}

// ---- TARGET ----

TEST(BundleVerify, RefusesTargetsOutOfOrder) {
  test::CraftedBundle crafted = sample();
  crafted.swap_records(SectionKind::target, 1, 2);
  expect_damaged(crafted, "target 2: its digest is out of order");
}

TEST(BundleVerify, RefusesTargetFieldsThatMustNotBe) {
  test::CraftedBundle crafted = sample();
  crafted.set_u8(SectionKind::target, 1, k_target_flags, 2);
  expect_damaged(crafted, "target 1: flags 0x2 has bits that must be zero");
  crafted = sample();
  crafted.set_u32(SectionKind::target, 1, k_target_device_name, 3);
  expect_damaged(crafted, "target 1: device_name: no string begins at offset 3");
}

// ---- BLOB ----

TEST(BundleVerify, RefusesAReferenceToItselfOrBeyond) {
  const std::uint32_t blob = blob_with_reference(test::must_open(sample_to_verify()));
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::blob, blob, k_blob_reference, blob);
  expect_damaged(crafted,
                 fmt::format("blob {}: reference {} is itself or beyond the 8", blob, blob));
  crafted.set_u32(SectionKind::blob, blob, k_blob_reference, 99);
  expect_damaged(crafted, fmt::format("blob {}: reference 99 is itself or beyond the 8", blob));
}

// A reader detects a cycle of references like a chain: the reference itself has a reference.
TEST(BundleVerify, RefusesReferencesThatFormACycle) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const std::uint32_t blob = blob_with_reference(reader);
  const std::uint32_t hub = reader.blob(blob)->reference;
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::blob, hub, k_blob_reference, blob);
  crafted.set_u8(SectionKind::blob, hub, k_blob_codec, 1);
  const base::Error error = test::must_open(crafted.build()).read_blob(blob).error();
  EXPECT_EQ(error.code, ErrorCode::damaged);
  EXPECT_EQ(error.message,
            fmt::format("blob {}: its reference {} has a reference itself", blob, hub));
  EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
}

TEST(BundleVerify, RefusesStoredBytesBeyondThePayload) {
  test::CraftedBundle crafted = sample();
  crafted.set_u64(SectionKind::blob, 1, k_blob_offset, ~std::uint64_t{7});
  expect_damaged(crafted, "blob 1: stored_bytes");
  crafted = sample();
  crafted.set_u64(SectionKind::blob, 1, k_blob_stored_bytes, ~std::uint64_t{0});
  crafted.set_u64(SectionKind::blob, 1, k_blob_raw_bytes, ~std::uint64_t{0});
  expect_damaged(crafted, "blob 1: stored_bytes 18446744073709551615 at offset");
  crafted = sample();
  crafted.set_u64(SectionKind::blob, 1, k_blob_offset, 4);
  expect_damaged(crafted, "blob 1: stored_bytes");
}

TEST(BundleVerify, RefusesFramesThatDoNotTileThePayload) {
  test::CraftedBundle crafted = sample();
  crafted.set_u64(SectionKind::blob, 1, k_blob_offset, 0);
  expect_damaged(crafted, "blob 1: offset is 0, expected");
  crafted = sample();
  Bytes& payload = crafted.section(SectionKind::payload).bytes;
  payload.resize(payload.size() + 8);
  expect_damaged(crafted, "PAYLOAD: its blobs end at");
}

TEST(BundleVerify, RefusesBlobFieldsThatContradict) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const std::uint32_t blob = blob_with_reference(reader);
  const BlobView view = reader.blob(blob).value();
  test::CraftedBundle crafted = sample();
  crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, 0);
  expect_damaged(crafted, "must not be 0");
  crafted = sample();
  crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, view.stored_bytes);
  expect_damaged(crafted, "is not below raw_bytes");
  crafted = sample();
  crafted.set_u8(SectionKind::blob, blob, k_blob_codec, 0);
  expect_damaged(crafted, "codec 0 with stored_bytes");
  crafted = sample();
  crafted.set_u8(SectionKind::blob, blob, k_blob_codec, 3);
  expect_damaged(crafted, fmt::format("blob {}: codec 3 is not known", blob));
  crafted = sample();
  crafted.set_u8(SectionKind::blob, blob, k_blob_flags, 1);
  expect_damaged(crafted, fmt::format("blob {}: flags 0x1 has bits that must be zero", blob));
}

TEST(BundleVerify, RefusesARawSizeThatTheFrameDoesNotHave) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const std::uint32_t blob = blob_with_reference(reader);
  const std::uint64_t raw_bytes = reader.blob(blob)->raw_bytes;
  for (const std::uint64_t wrong : {raw_bytes - 1, raw_bytes + 1, std::uint64_t{1} << 29U}) {
    test::CraftedBundle crafted = sample();
    crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, wrong);
    const auto raw = test::must_open(crafted.build()).read_blob(blob);
    ASSERT_FALSE(raw.has_value());
    EXPECT_EQ(raw.error().code, ErrorCode::damaged);
    EXPECT_THAT(raw.error().message, StartsWith(fmt::format("blob {}: ", blob)));
  }
}

TEST(BundleVerify, RefusesAReferenceThatTheWindowCannotCover) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const std::uint32_t blob = blob_with_reference(reader);
  test::CraftedBundle crafted = sample();
  crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, 1U << 27U);
  const auto raw = test::must_open(crafted.build()).read_blob(blob);
  ASSERT_FALSE(raw.has_value());
  EXPECT_EQ(raw.error().code, ErrorCode::damaged);
  EXPECT_THAT(raw.error().message, HasSubstr("of its reference are above 134217728"));
}

TEST(BundleVerify, RefusesAWrongRawDigest) {
  const BundleReader reader = test::must_open(sample_to_verify());
  base::Digest digest = reader.blob(0)->raw_digest;
  digest.bytes[31] ^= std::byte{1};
  test::CraftedBundle crafted = sample();
  crafted.set_bytes(SectionKind::blob, 0, k_blob_raw_digest, digest.bytes);
  const base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::digest_mismatch);
  EXPECT_EQ(error.message, "blob 0: raw_digest does not match its raw bytes");
}

TEST(BundleVerify, RefusesBlobsOutOfOrder) {
  test::CraftedBundle crafted = sample();
  crafted.swap_records(SectionKind::blob, 0, 1);
  EXPECT_EQ(error_of(crafted).code, ErrorCode::damaged);
}

TEST(BundleVerify, AnswersThatAPayloadIsEncrypted) {
  const std::uint32_t blob = blob_with_reference(test::must_open(sample_to_verify()));
  test::CraftedBundle crafted = sample();
  crafted.set_u8(SectionKind::blob, blob, k_blob_codec, 2);
  const BundleReader reader = test::must_open(crafted.build());
  const base::Error error = reader.read_blob(blob).error();
  EXPECT_EQ(error.code, ErrorCode::encrypted);
  EXPECT_EQ(error.message,
            fmt::format("blob {} is encrypted, and the bundle has no section KEYS", blob));
  EXPECT_EQ(reader.verify().error().code, ErrorCode::encrypted);
}

// ---- STRINGS ----

TEST(BundleVerify, RefusesStringsThatDoNotTile) {
  test::CraftedBundle crafted = sample();
  crafted.section(SectionKind::strings).bytes.push_back(std::byte{0});
  expect_damaged(crafted, "is beyond the");
  crafted = sample();
  crafted.section(SectionKind::strings).record.count += 1;
  expect_damaged(crafted, "STRINGS: count is");
  crafted = sample();
  Bytes& strings = crafted.section(SectionKind::strings).bytes;
  strings[7] = std::byte{0xff}; // the size of the second string
  expect_damaged(crafted, "string 1: text at offset 4 has");
}

TEST(BundleVerify, RefusesAStringAboveTheLimit) {
  test::CraftedBundle crafted = sample();
  base::ByteWriter writer;
  writer.write_bytes(crafted.section(SectionKind::strings).bytes);
  writer.write_text(std::string((1U << 20U) + 1, '~'));
  crafted.section(SectionKind::strings).bytes = std::move(writer).take();
  crafted.section(SectionKind::strings).record.count += 1;
  expect_damaged(crafted, "1048576 are allowed");
}

TEST(BundleVerify, TakesAStringThatNothingNames) {
  test::CraftedBundle crafted = sample();
  base::ByteWriter writer;
  writer.write_bytes(crafted.section(SectionKind::strings).bytes);
  writer.write_text("~ the last one, longer than a page" + std::string(5000, '~'));
  crafted.section(SectionKind::strings).bytes = std::move(writer).take();
  crafted.section(SectionKind::strings).record.count += 1;
  const auto verified = test::must_open(crafted.build()).verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

// ---- Manifest and source ----

TEST(BundleVerify, RefusesAManifestThatIsNoManifest) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView group = reader.find_group("matmul", "default").value();
  test::CraftedBundle crafted = sample();
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    if (reader.group(i)->program == "matmul") {
      crafted.set_u32(SectionKind::group, i, k_group_manifest_blob, group.source_blob);
    }
  }
  const base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_THAT(error.message, StartsWith("manifest of program 'matmul': "));
}

TEST(BundleVerify, RefusesTheManifestOfAnotherProgram) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView matmul = reader.find_group("matmul", "default").value();
  const GroupView reduce = reader.find_group("reduce", "default").value();
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::group, reduce.index, k_group_manifest_blob, matmul.manifest_blob);
  const base::Error error = error_of(crafted);
  EXPECT_EQ(error.code, ErrorCode::manifest_invalid);
  EXPECT_EQ(error.message, "manifest of program 'reduce': it describes program 'matmul'");
}

TEST(BundleVerify, RefusesASourceThatIsNoSource) {
  const BundleReader reader = test::must_open(sample_to_verify());
  const GroupView reduce = reader.find_group("reduce", "default").value();
  test::CraftedBundle crafted = sample();
  crafted.set_u32(SectionKind::group, reduce.index, k_group_source_blob, reduce.manifest_blob);
  EXPECT_THAT(error_of(crafted).message, StartsWith("source of program 'reduce': source: "));
}

} // namespace
} // namespace clbin::format
