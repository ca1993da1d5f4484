#include "modes/extracted_names.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc {
namespace {

using clbin::format::BinaryKind;
using clbin::format::TargetOrigin;
using testing::ElementsAre;
using testing::MatchesRegex;

EntryPlace place(std::string program, std::string variant, std::string device,
                 BinaryKind kind = BinaryKind::ptx) {
  EntryPlace made{std::move(program), std::move(variant), {}, kind};
  made.target.device_name = std::move(device);
  made.target.digest = clbin::base::digest_of(clbin::base::as_bytes(made.target.device_name));
  return made;
}

TEST(ExtractedNames, PartsHoldWhatEveryFileSystemTakes) {
  struct Row {
    std::string text;
    std::string expected;
  };
  const std::vector<Row> table = {
      {"matmul", "matmul"},
      {"a+b@c_d-e.f9Z", "a+b@c_d-e.f9Z"},
      {"", "_"},
      {".", "_."},
      {"..", "_.."},
      {"../../etc/passwd", "_.._.._etc_passwd"},
      {"-rf", "_-rf"},
      {"a b\tc\nd", "a_b_c_d"},
      {std::string("a\0b", 3), "a_b"},
      {"NUL:con|*?\"<>\\", "NUL_con_______"},
      {"\xc3\xa4", "__"},
      {"\x1b[31m", "__31m"},
      {std::string(64, 'x'), std::string(64, 'x')},
      {std::string(300, 'x'), std::string(64, 'x')},
      {"-" + std::string(300, 'x'), "_-" + std::string(62, 'x')}, // at most 64, including the '_'
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(file_name_part(text), expected) << "of '" << text << "'";
  }
}

TEST(ExtractedNames, SuffixesAreThoseThatToolsOfTheKindExpect) {
  const auto elf = clbin::base::as_bytes(std::string_view("\x7f"
                                                          "ELF and more"));
  const auto other = clbin::base::as_bytes(std::string_view("\x7f"
                                                            "EL"));
  struct Row {
    BinaryKind kind;
    clbin::base::ByteView bytes;
    std::string_view expected;
  };
  const std::vector<Row> table = {
      {BinaryKind::ptx, other, ".ptx"},
      {BinaryKind::cubin, elf, ".cubin"},
      {BinaryKind::spirv, other, ".spv"},
      {BinaryKind::amd_code_object, elf, ".hsaco"},
      {BinaryKind::llvm_bitcode, other, ".bc"},
      {BinaryKind::ar_archive, other, ".a"},
      {BinaryKind::nvidia_fatbin, other, ".fatbin"},
      {BinaryKind::intel_zebin, elf, ".bin"},
      {BinaryKind::poclbin, other, ".bin"},
      {BinaryKind::unknown, elf, ".elf"},
      {BinaryKind::unknown, other, ".bin"},
      {BinaryKind::unknown, {}, ".bin"},
      {static_cast<BinaryKind>(99), other, ".bin"},
  };
  for (const auto& [kind, bytes, expected] : table) {
    EXPECT_EQ(binary_suffix(kind, bytes), expected) << clbin::format::to_string(kind);
  }
}

TEST(ExtractedNames, NameProgramVariantAndTarget) {
  EntryPlace offline{"matmul", "default", {}, BinaryKind::ptx};
  offline.target.origin = TargetOrigin::offline;
  offline.target.spec = "nvptx:sm_70";
  EXPECT_THAT(entry_file_names({offline, place("matmul", "default", "cpu-a")}),
              ElementsAre("matmul.default.nvptx_sm_70", "matmul.default.cpu-a"));
  EXPECT_TRUE(entry_file_names({}).empty());
}

TEST(ExtractedNames, ThatWouldBeEqualEndInDigestsOfWhatTheyName) {
  const std::vector<EntryPlace> places = {
      place("k", "default", "a b"),
      place("k", "default", "a/b"),
      place("k", "default", "A_B"), // the same on a case-insensitive file system
      place("k", "default", "other"),
  };
  const std::vector<std::string> names = entry_file_names(places);
  EXPECT_THAT(names,
              ElementsAre(MatchesRegex("k\\.default\\.a_b\\.[0-9a-f]{16}"),
                          MatchesRegex("k\\.default\\.a_b\\.[0-9a-f]{16}"),
                          MatchesRegex("k\\.default\\.A_B\\.[0-9a-f]{16}"), "k.default.other"));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 4U);
  // The names do not depend on the order of the places.
  std::vector<EntryPlace> turned = places;
  std::reverse(turned.begin(), turned.end());
  std::vector<std::string> turned_names = entry_file_names(turned);
  std::reverse(turned_names.begin(), turned_names.end());
  EXPECT_EQ(turned_names, names);
}

TEST(ExtractedNames, OfTwoKindsForOneTargetDiffer) {
  const std::vector<std::string> names = entry_file_names(
      {place("k", "v", "gpu", BinaryKind::ptx), place("k", "v", "gpu", BinaryKind::cubin)});
  EXPECT_NE(names[0], names[1]);
}

TEST(ExtractedNames, CannotBeMadeToLookLikeOneWithADigest) {
  const std::vector<EntryPlace> two = {place("k", "v", "a b"), place("k", "v", "a/b")};
  const std::string taken = entry_file_names(two)[0].substr(std::string_view("k.v.").size());
  std::vector<std::string> names = entry_file_names({two[0], two[1], place("k", "v", taken)});
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3U);
}

} // namespace
} // namespace oclcc
