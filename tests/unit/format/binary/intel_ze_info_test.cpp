#include "format/binary/binary_kernels.hpp"

#include "real_binaries.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::argument_texts;
using test::real_binary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

using namespace std::string_view_literals;
using Size3 = std::array<std::uint64_t, 3>;

std::vector<KernelReflection> read_zebin(base::ByteView bytes) {
  auto kernels = read_zebin_kernels(bytes);
  EXPECT_TRUE(kernels.has_value()) << kernels.error().message;
  return kernels.value_or(std::vector<KernelReflection>{});
}

// Returns an ELF file with one section, .ze_info.
Bytes zebin_with(std::string_view text, std::uint32_t section_type = 0xff000011U) {
  return test::elf_with_section({"\x7f"
                                 "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"sv,
                                 0xff12, 29},
                                section_type, base::as_bytes(text));
}

void expect_refused(const Bytes& bytes, const std::string& message) {
  const auto kernels = read_zebin_kernels(bytes);
  ASSERT_FALSE(kernels.has_value()) << message;
  EXPECT_EQ(kernels.error().code, ErrorCode::damaged) << kernels.error().message;
  EXPECT_THAT(kernels.error().message, HasSubstr("Intel zebin: " + message));
}

TEST(IntelZeInfo, ReadsTheArgumentsOfTheSource) {
  test::expect_kernels_of_arguments_cl(read_zebin(real_binary("arguments.tgllp.zebin")));
}

TEST(IntelZeInfo, ReadsWorkGroupSizesAndResources) {
  const auto kernels = read_zebin(real_binary("arguments.tgllp.zebin"));
  ASSERT_THAT(kernels, SizeIs(3));
  EXPECT_EQ(kernels[0].required_work_group_size, (Size3{8, 4, 2}));
  EXPECT_EQ(kernels[0].attributes, "reqd_work_group_size(8,4,2)");
  EXPECT_EQ(kernels[0].local_bytes, 256U);
  EXPECT_EQ(kernels[0].preferred_multiple, 32U);
  EXPECT_THAT(kernels[0].vendor, ElementsAre(Pair("grf_count", 128)));
  EXPECT_EQ(kernels[1].required_work_group_size, (Size3{0, 0, 0}));
  EXPECT_EQ(kernels[1].attributes, "work_group_size_hint(16,1,1) vec_type_hint(float4)");
  EXPECT_EQ(kernels[1].preferred_multiple, 16U);
}

TEST(IntelZeInfo, CountsArgumentsWithoutTheirNames) {
  const auto kernels = read_zebin(zebin_with("kernels:\n"
                                             "  - name: k\n"
                                             "    payload_arguments:\n"
                                             "      - arg_type: arg_bypointer\n"
                                             "        arg_index: 1\n"
                                             "      - arg_type: arg_byvalue\n"
                                             "        arg_index: 0\n"
                                             "      - arg_type: local_size\n"));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].argument_count, 2U);
  EXPECT_FALSE(kernels[0].arguments.has_value());
}

TEST(IntelZeInfo, ReadsAWholeZebin) {
  const auto kernels = read_zebin(real_binary("tgllp.zebin"));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].name, "add");
  EXPECT_THAT(argument_texts(kernels[0]), ElementsAre("global float* a", "global const float* b"));
}

TEST(IntelZeInfo, ReadsScratchMemoryAndSubGroupSizes) {
  const auto kernels = read_zebin(zebin_with("kernels:\n"
                                             "  - name: b\n"
                                             "    user_attributes:\n"
                                             "      intel_reqd_sub_group_size: 16\n"
                                             "    per_thread_memory_buffers:\n"
                                             "      - type: scratch\n"
                                             "        usage: single_space\n"
                                             "        size: 65536\n"
                                             "      - type: scratch\n"
                                             "        usage: spill_fill_space\n"
                                             "        size: 512\n"
                                             "  - name: Intel_Symbol_Table_Void_Program\n"
                                             "  - name: a\n"));
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[0].argument_count, 0U);
  EXPECT_FALSE(kernels[0].arguments.has_value());
  EXPECT_EQ(kernels[1].attributes, "intel_reqd_sub_group_size(16)");
  EXPECT_THAT(kernels[1].vendor, ElementsAre(Pair("grf_count", 0), Pair("scratch_bytes", 65536),
                                             Pair("spill_bytes", 512)));
}

TEST(IntelZeInfo, SurvivesCutsAndFlippedBits) {
  const Bytes real = zebin_with("---\n"
                                "kernels:\n"
                                "  - name:            k\n"
                                "    user_attributes:\n"
                                "      reqd_work_group_size: [ 8, 4, 2 ]\n"
                                "    execution_env:\n"
                                "      simd_size:       32\n"
                                "    payload_arguments:\n"
                                "      - arg_type:        arg_byvalue\n"
                                "        arg_index:       0\n"
                                "kernels_misc_info:\n"
                                "  - name:            k\n"
                                "    args_info:\n"
                                "      - index:           0\n"
                                "        name:            count\n"
                                "        address_qualifier: __private\n"
                                "        access_qualifier: NONE\n"
                                "        type_name:       'int;4'\n"
                                "        type_qualifiers: NONE\n"
                                "...\n");
  EXPECT_THAT(argument_texts(read_zebin(real).at(0)), ElementsAre("private int count"));
  std::size_t refused = 0;
  test::for_each_damage(real, [&](base::ByteView bytes) {
    if (const auto kernels = read_zebin_kernels(bytes); !kernels) {
      EXPECT_THAT(kernels.error().message, HasSubstr("Intel zebin: "));
      ++refused;
    }
  });
  EXPECT_GT(refused, 1000U);
}

TEST(IntelZeInfo, NamesTheFieldOfWhatItRefuses) {
  expect_refused({}, "not an ELF file for Intel's GPUs");
  expect_refused(real_binary("gfx906.v3.co"), "not an ELF file for Intel's GPUs");
  expect_refused(zebin_with("a: 1\n", 1), "no section .ze_info");
  expect_refused(zebin_with("- 1\n"), ".ze_info: not a map");
  expect_refused(zebin_with("kernels: 1\n"), ".ze_info.kernels: not a list");
  expect_refused(zebin_with("kernels:\n  - 1\n"), ".ze_info.kernels[0]: not a map");
  expect_refused(zebin_with("kernels:\n  - x: 1\n"), ".ze_info.kernels[0].name: missing");
  expect_refused(zebin_with("kernels:\n  - name: k\n  - name: k\n"),
                 ".ze_info.kernels[1].name: another kernel has this name");
  expect_refused(zebin_with("kernels:\n  - name: k\n    execution_env:\n      simd_size: -1\n"),
                 ".ze_info.kernels[0].execution_env.simd_size: not an unsigned integer");
  expect_refused(zebin_with("kernels:\n  - name: k\n    payload_arguments:\n"
                            "      - arg_index: 4294967295\n"),
                 ".ze_info.kernels[0].payload_arguments[0].arg_index: 4294967295 is above 65535");
  expect_refused(zebin_with("kernels_misc_info:\n  - name: k\n    args_info:\n      - index: 7\n"),
                 ".ze_info.kernels_misc_info[0].args_info[0].index: 7 and not 0");
  expect_refused(zebin_with("kernels_misc_info:\n  - name: k\n    args_info:\n"
                            "      - index: 0\n        address_qualifier: __far\n"),
                 ".ze_info.kernels_misc_info[0].args_info[0].address_qualifier: '__far' is not");
}

} // namespace
} // namespace clbin::format
