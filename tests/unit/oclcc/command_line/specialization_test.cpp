#include "command_line/specialization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::KernelReflection;
using ::testing::ElementsAre;

GroupSize size_of(const std::string& text) {
  const auto parsed = parse_specialization("k=" + text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? parsed->size : GroupSize{};
}

TEST(Specialization, TakesOneToThreeSizes) {
  EXPECT_EQ(size_of("64"), (GroupSize{64, 1, 1}));
  EXPECT_EQ(size_of("16x8"), (GroupSize{16, 8, 1}));
  EXPECT_EQ(size_of("8x4x2"), (GroupSize{8, 4, 2}));
  EXPECT_EQ(size_of("65536"), (GroupSize{65536, 1, 1}));
  EXPECT_EQ(to_string(size_of("16x8")), "16x8x1");
}

TEST(Specialization, KeepsTheNameOfTheKernel) {
  EXPECT_EQ(parse_specialization("matmul_2=16x16")->kernel, "matmul_2");
}

TEST(Specialization, RefusesWhatIsNoSize) {
  for (const std::string text : {"k", "=16", "k=", "k=0", "k=16x", "k=x16", "k=16x16x1x1", "k=-1",
                                 "k=16X16", "k=16 x16", "k=65537", "k=99999999999999999999"}) {
    const auto parsed = parse_specialization(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(parsed.error().message,
              "'--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one to "
              "three numbers from 1 to 65536; not '" +
                  text + "'");
  }
}

TEST(Specialization, IsKeptOnceAndInOrderHoweverItIsGiven) {
  std::vector<Specialization> all;
  add_specialization(all, {"b", {1, 1, 1}});
  add_specialization(all, {"a", {16, 1, 1}});
  add_specialization(all, {"a", {8, 1, 1}});
  add_specialization(all, {"b", {1, 1, 1}});
  EXPECT_THAT(all, ElementsAre(Specialization{"a", {8, 1, 1}}, Specialization{"a", {16, 1, 1}},
                               Specialization{"b", {1, 1, 1}}));
}

TEST(Specialization, ReadsTheHintAsDriversSpellIt) {
  EXPECT_EQ(hinted_size("__attribute__((work_group_size_hint(8, 4, 1 )))"),
            (GroupSize{8, 4, 1})); // PoCL
  EXPECT_EQ(hinted_size("vec_type_hint(float4),work_group_size_hint(64,1,1)"),
            (GroupSize{64, 1, 1})); // rusticl
  for (const std::string_view attributes :
       {"", "reqd_work_group_size(2,2,1)", "work_group_size_hint(", "work_group_size_hint(8",
        "work_group_size_hint(8,4)", "work_group_size_hint(8,4,1,1)", "work_group_size_hint(8,4,",
        "work_group_size_hint(0,4,1)", "work_group_size_hint(8,-4,1)",
        "work_group_size_hint(65537,1,1)", "work_group_size_hint(99999999999999999999,1,1)"}) {
    EXPECT_EQ(hinted_size(attributes), std::nullopt) << attributes;
  }
}

KernelReflection kernel_of(const std::string& name, const std::string& attributes) {
  KernelReflection kernel;
  kernel.name = name;
  kernel.attributes = attributes;
  kernel.max_work_group_size = 4096;
  return kernel;
}

TEST(Specialization, CountsTheHintAsASize) {
  const KernelReflection hinted = kernel_of("k", "work_group_size_hint(16,1,1)");
  EXPECT_THAT(sizes_to_specialize(hinted, {}), ElementsAre(GroupSize{16, 1, 1}));
  EXPECT_THAT(sizes_to_specialize(hinted, {{"k", {8, 1, 1}}, {"k", {16, 1, 1}}, {"l", {4, 1, 1}}}),
              ElementsAre(GroupSize{8, 1, 1}, GroupSize{16, 1, 1}));
}

TEST(Specialization, PrefersTheRequiredSizeToTheHint) {
  KernelReflection kernel = kernel_of("k", "work_group_size_hint(16,1,1)");
  kernel.required_work_group_size = {2, 2, 1};
  EXPECT_THAT(sizes_to_specialize(kernel, {}), ElementsAre(GroupSize{2, 2, 1}));
}

TEST(Specialization, LeavesOutSizesAboveTheDevicesLimit) {
  const KernelReflection kernel = kernel_of("k", "work_group_size_hint(65536,65536,65536)");
  EXPECT_THAT(sizes_to_specialize(kernel, {{"k", {4097, 1, 1}}, {"k", {4096, 1, 1}}}),
              ElementsAre(GroupSize{4096, 1, 1}));
}

} // namespace
} // namespace oclcc
