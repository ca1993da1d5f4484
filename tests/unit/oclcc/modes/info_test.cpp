#include "modes/bundle_summary.hpp"

#include "base/json_document.hpp"
#include "listing/bundle_summary.hpp"
#include "support/amplifying_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "terminal/exit_code.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using testing::HasSubstr;

class Info : public testing::Test {
protected:
  void SetUp() override {
    auto folder = clbin::base::TemporaryFolder::create({}, "info_test");
    ASSERT_TRUE(folder);
    m_folder.emplace(std::move(*folder));
  }
  std::filesystem::path write(clbin::base::ByteView bytes) {
    const std::filesystem::path path = m_folder->path() / "k.clbin";
    std::ofstream(path, std::ios::binary)
        .write(clbin::base::as_text(bytes).data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

private:
  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(Info, SummarizesEveryGroupAndEntry) {
  const auto summary =
      summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  EXPECT_TRUE(summary.errors.empty());
  ASSERT_EQ(summary.groups.size(), 3U);
  std::size_t entries = 0;
  for (const GroupSummary& group : summary.groups) {
    EXPECT_EQ(group.sources->size(), group.group.program == "matmul" ? 2U : 0U);
    for (const EntrySummary& entry : group.entries) {
      EXPECT_TRUE(entry.blob.has_value());
      ASSERT_NE(entry.details, nullptr);
      EXPECT_EQ(entry.details->variant, group.group.variant);
      ++entries;
    }
  }
  EXPECT_EQ(entries, 7U);
  const std::string text = info_text(summary);
  EXPECT_THAT(text, HasSubstr("program 'matmul', variant 'fast'\n"
                              "  options   -cl-fast-relaxed-math\n"
                              "  source    kept: 2 files, "));
  EXPECT_THAT(text, HasSubstr("    device    cpu-a\n    driver    3.1\n"));
  EXPECT_THAT(text, HasSubstr("    kernel    multiply(global float* a, int n)\n"
                              "                work-group of 16x16x1\n"
                              "                2048 bytes of local memory\n"));
}

TEST_F(Info, HasATableForEachProgramAndVariant) {
  const auto summary =
      summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  const std::string text = info_table(summary, 100);
  EXPECT_THAT(text, HasSubstr("program 'matmul', variant 'default'; source kept: 2 files, "));
  EXPECT_THAT(text, testing::ContainsRegex("\n *nvptx +nvptx +\\[1\\]\n *sm_50 +sm_70 +poclbin\n"));
  EXPECT_THAT(text, HasSubstr("  multiply(global float* a, int n)\n"
                              "            -/-/2048  -/-/2048  -/-/2048\n"));
  EXPECT_THAT(text, HasSubstr("  [1]       cpu-a (Portable Computing Language), driver 3.1\n"));
  EXPECT_THAT(text, HasSubstr("  options   -cl-fast-relaxed-math\n"));
}

// The second variant of a program names the kernels of the first only.
TEST_F(Info, PrintsASignatureOnceAProgram) {
  const auto summary =
      summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  const std::string text = info_table(summary, 100);
  const std::string_view signature = "  add(global float* a, int n)\n";
  const std::size_t first = text.find(signature);
  const std::size_t second = text.find(signature, first + 1);
  EXPECT_LT(first, text.find("variant 'fast'"));
  EXPECT_GT(second, text.find("program 'reduce'"));
  EXPECT_THAT(text.substr(text.find("variant 'fast'")), HasSubstr("\n  add\n"));
}

TEST_F(Info, ContinuesATableBelowAndShortensNames) {
  const auto summary =
      summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  const std::string text = info_table(summary, 22);
  EXPECT_THAT(text, HasSubstr("\n  multiply(global f...\n"
                              "            -/-/2048\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n *nvptx\n *sm_70\n"));
}

// A program of 2,000 entries, each with a kernel that no other has, would have 4,000,000 cells.
TEST_F(Info, HasNoTableThatIsLargerThanTheBundle) {
  BundleSummary summary;
  summary.head.emplace();
  GroupSummary& group = summary.groups.emplace_back();
  group.sources = std::make_shared<const std::vector<SourceSummary>>();
  for (int i = 0; i < 2000; ++i) {
    EntrySummary& entry = group.entries.emplace_back();
    entry.entry.kernels = {"kernel_" + std::to_string(i)};
  }
  const std::string text = info_table(summary, 100);
  EXPECT_LT(text.size(), 2000U * 500);
  EXPECT_THAT(text, HasSubstr("    kernel    kernel_1999(...)\n"));
}

TEST_F(Info, ShowsWhatLiesBeforeACut) {
  const Bytes whole = clbin::test::must_write(clbin::test::sample_input());
  std::size_t with_entries = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto summary = summarize_bundle(write(clbin::base::ByteView(whole).first(size)));
    ASSERT_FALSE(summary.errors.empty()) << size;
    const ErrorCode first = summary.errors.front().code;
    EXPECT_TRUE(first == ErrorCode::truncated || (size == 0 && first == ErrorCode::not_a_bundle))
        << size << ": " << summary.errors.front().message;
    with_entries += !summary.groups.empty() && !summary.groups.front().entries.empty() ? 1 : 0;
  }
  EXPECT_GT(with_entries, 0U);
}

std::string json_of(const BundleSummary& summary) {
  std::string text;
  clbin::listing::BundlesJson document([&](std::string_view part) {
    text += part;
    return true;
  });
  document.add(summary);
  EXPECT_TRUE(document.finish());
  return text;
}

TEST_F(Info, WritesJsonAsTheWriterOfDocumentsDoes) {
  const auto sound = summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  const auto broken = summarize_bundle("/nowhere/x.clbin");
  for (const auto& summary : {sound, broken}) {
    const std::string text = json_of(summary);
    const auto document = clbin::base::parse_json(clbin::base::as_bytes(text), {});
    ASSERT_TRUE(document.has_value()) << document.error().message;
    EXPECT_EQ(text, clbin::base::write_json(*document, clbin::base::JsonLayout::indented));
  }
}

TEST_F(Info, EndsTheDocumentWhereItCannotBeWritten) {
  const auto summary =
      summarize_bundle(write(clbin::test::must_write(clbin::test::sample_input())));
  int calls = 0;
  clbin::listing::BundlesJson document([&](std::string_view) {
    ++calls;
    return false;
  });
  document.add(summary);
  EXPECT_FALSE(document.finish());
  EXPECT_EQ(calls, 1);
}

TEST_F(Info, ShowsWhatItCanOfAChangedBundleAndTellsOfEveryChange) {
  const Bytes whole = clbin::test::must_write(clbin::test::sample_input());
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    Bytes changed = whole;
    changed[at] ^= std::byte{0x10};
    const auto summary = summarize_bundle(write(changed));
    (void)info_text(summary);
    (void)json_of(summary);
    EXPECT_FALSE(summary.errors.empty()) << "there is no error for byte " << at;
    for (const auto& error : summary.errors) {
      EXPECT_EQ(exit_code_of(error.code), ExitCode::not_a_bundle) << at << ": " << error.message;
    }
  }
}

// Returns a bundle with `count` more entries in the last group, each with its own error.
Bytes with_bad_entries(std::uint32_t count) {
  using clbin::format::SectionKind;
  constexpr std::size_t k_group_first_entry = 20;
  constexpr std::size_t k_group_entry_count = 24;
  clbin::test::CraftedBundle crafted(clbin::test::must_write(clbin::test::sample_input()));
  auto& entries = crafted.section(SectionKind::entry);
  const auto first = static_cast<std::uint32_t>(entries.record.count);
  entries.bytes.resize(std::size_t{first + count} * entries.record.record_bytes);
  const std::uint32_t last_group = crafted.section(SectionKind::group).record.count - 1;
  const std::uint32_t start = crafted.u32_at(SectionKind::group, last_group, k_group_first_entry);
  crafted.set_u32(SectionKind::group, last_group, k_group_entry_count, first + count - start);
  return crafted.build();
}

TEST_F(Info, TellsAtMostAThousandErrors) {
  const auto summary = summarize_bundle(write(with_bad_entries(3000)));
  ASSERT_EQ(summary.errors.size(), 1001U);
  EXPECT_THAT(summary.errors[1].message, HasSubstr(": type is 0"));
  EXPECT_THAT(summary.errors[1000].message,
              testing::EndsWith("k.clbin: more than 1000 errors: the others are not listed"));
  EXPECT_EQ(summary.errors[1000].code, ErrorCode::damaged);
}

TEST_F(Info, CutsLongNames) {
  clbin::format::BundleInput input = clbin::test::sample_input();
  input.programs[0].name = std::string(5000, 'x');
  input.programs[0].source.reset();
  clbin::test::CraftedBundle crafted(clbin::test::must_write(input));
  for (std::uint32_t group = 0; group < 3; ++group) {
    crafted.set_u32(clbin::format::SectionKind::group, group, 32, 0xfffffff0U + group);
  }
  const auto summary = summarize_bundle(write(crafted.build()));
  std::vector<std::string> messages;
  for (const auto& error : summary.errors) {
    messages.push_back(error.message);
  }
  EXPECT_THAT(messages,
              testing::Contains(HasSubstr("manifest of program '" + std::string(128, 'x') +
                                          "...': blob 4294967280 is beyond the")));
}

TEST_F(Info, CutsLongMessages) {
  const std::string name(5000, 'y');
  clbin::format::BundleInput input = clbin::test::sample_input();
  input.programs[0].entries[0].target.identity.device_name = name;
  clbin::test::CraftedBundle crafted(clbin::test::must_write(input));
  Bytes& strings = crafted.section(clbin::format::SectionKind::strings).bytes;
  const std::size_t start = clbin::base::as_text(strings).find(name);
  ASSERT_NE(start, std::string_view::npos);
  strings[start] = std::byte{' '}; // no longer in order
  const auto summary = summarize_bundle(write(crafted.build()));
  ASSERT_EQ(summary.errors.size(), 1U);
  EXPECT_EQ(summary.errors[0].message.size(), 4096U + 3);
  EXPECT_THAT(summary.errors[0].message, HasSubstr("string 16: ' yyy"));
  EXPECT_THAT(summary.errors[0].message, testing::EndsWith("yyy..."));
}

Bytes amplifying(std::string_view name) {
  for (const auto& kind : clbin::test::amplifying_kinds()) {
    if (kind.name == name) {
      return kind.make(1);
    }
  }
  ADD_FAILURE() << "there is no kind " << name;
  return {};
}

// 1 MiB of options in each of 5,000 variants, from a file of 1.3 MB.
TEST_F(Info, LimitsTheTextsThatRecordsShare) {
  const auto summary = summarize_bundle(write(amplifying("long_variant_options")));
  ASSERT_FALSE(summary.errors.empty());
  EXPECT_EQ(summary.errors.back().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(summary.errors.back().message,
              testing::MatchesRegex(".*the texts of its records exceed [0-9]+ bytes"));
  EXPECT_LT(info_text(summary).size(), std::size_t{30} << 20U);
}

TEST_F(Info, ShowsAManifestRowOfTwoEntriesOnce) {
  const auto summary = summarize_bundle(write(amplifying("equal_groups")));
  std::size_t shown = 0;
  for (const GroupSummary& group : summary.groups) {
    for (const EntrySummary& entry : group.entries) {
      shown += entry.details != nullptr ? 1 : 0;
    }
  }
  EXPECT_EQ(shown, 1U);
  ASSERT_FALSE(summary.errors.empty());
  EXPECT_EQ(summary.errors[0].code, ErrorCode::manifest_invalid);
  EXPECT_THAT(summary.errors[0].message,
              HasSubstr("entry 0: another entry names row 0 of its manifest"));
}

TEST_F(Info, ShowsABundleThatBytesFollow) {
  Bytes bytes = clbin::test::must_write(clbin::test::sample_input());
  bytes.resize(bytes.size() + 3);
  const auto summary = summarize_bundle(write(bytes));
  ASSERT_EQ(summary.errors.size(), 1U);
  EXPECT_EQ(summary.errors[0].code, ErrorCode::trailing_bytes);
  EXPECT_EQ(summary.groups.size(), 3U);
}

TEST_F(Info, TellsWhatItCannotOpen) {
  const auto summary = summarize_bundle("/no/such/file");
  ASSERT_EQ(summary.errors.size(), 1U);
  EXPECT_EQ(summary.errors[0].message, "cannot open '/no/such/file': No such file or directory");
  EXPECT_EQ(info_text(summary), "");
}

TEST(KernelText, ShowsWhatIsKnown) {
  clbin::format::KernelReflection kernel;
  kernel.name = "k";
  EXPECT_EQ(kernel_signature(kernel), "k(...)");
  EXPECT_TRUE(kernel_facts(kernel).empty());
  kernel.argument_count = 3;
  EXPECT_EQ(kernel_signature(kernel), "k(3 arguments)");
  kernel.arguments.emplace(3);
  kernel.arguments->at(0) = {"a", "float*", clbin::format::AddressSpace::global};
  kernel.arguments->at(0).is_const = true;
  kernel.arguments->at(0).is_restrict = true;
  kernel.arguments->at(1) = {"i", "image2d_t", clbin::format::AddressSpace::global,
                             clbin::format::AccessQualifier::read_only};
  kernel.arguments->at(2).type_name = "int";
  kernel.max_work_group_size = 256;
  kernel.preferred_multiple = 32;
  kernel.private_bytes = 0;
  kernel.vendor = {{"registers", 12}};
  EXPECT_EQ(kernel_signature(kernel),
            "k(global const float* restrict a, global read_only image2d_t i, int)");
  EXPECT_THAT(kernel_facts(kernel),
              testing::ElementsAre("work-group at most 256, best in multiples of 32",
                                   "0 bytes of private memory", "registers 12"));
}

} // namespace
} // namespace oclcc
