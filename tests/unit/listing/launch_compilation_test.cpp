#include "listing/launch_compilation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::listing {
namespace {

using format::DeviceFamily;
using format::KernelReflection;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

KernelReflection kernel_of(const std::string& name, const std::string& attributes = {}) {
  KernelReflection kernel;
  kernel.name = name;
  kernel.attributes = attributes;
  kernel.max_work_group_size = 4096;
  return kernel;
}

TEST(LaunchCompilation, CompilesKernelsOfPoclWithoutASize) {
  KernelReflection specialized = kernel_of("a");
  specialized.specialized_sizes = {{8, 1, 1}};
  const std::vector kernels = {specialized, kernel_of("b")};
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::pocl, kernels), ElementsAre("b"));
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::nvidia, kernels), IsEmpty());
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::pocl, {}), IsEmpty());
}

TEST(LaunchCompilation, IsNotKnownWithoutReflection) {
  KernelReflection bare;
  bare.name = "a";
  EXPECT_EQ(kernels_compiled_at_launch(DeviceFamily::pocl, {&bare, 1}), std::nullopt);
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::oclgrind, {&bare, 1}), IsEmpty());
}

TEST(GroupSize, IsWrittenWithAllDimensions) {
  EXPECT_EQ(to_string(*parse_group_size("16x8", 'x')), "16x8x1");
}

TEST(SizesToSpecialize, ReadsTheHintAsDriversSpellIt) {
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

TEST(SizesToSpecialize, CountsTheHintAsASize) {
  const KernelReflection hinted = kernel_of("k", "work_group_size_hint(16,1,1)");
  EXPECT_THAT(sizes_to_specialize(hinted, {}), ElementsAre(GroupSize{16, 1, 1}));
  EXPECT_THAT(sizes_to_specialize(hinted, {{"k", {8, 1, 1}}, {"k", {16, 1, 1}}, {"l", {4, 1, 1}}}),
              ElementsAre(GroupSize{8, 1, 1}, GroupSize{16, 1, 1}));
}

TEST(SizesToSpecialize, PrefersTheRequiredSizeToTheHint) {
  KernelReflection kernel = kernel_of("k", "work_group_size_hint(16,1,1)");
  kernel.required_work_group_size = {2, 2, 1};
  EXPECT_THAT(sizes_to_specialize(kernel, {}), ElementsAre(GroupSize{2, 2, 1}));
}

TEST(SizesToSpecialize, LeavesOutSizesAboveTheDevicesLimit) {
  const KernelReflection kernel = kernel_of("k", "work_group_size_hint(65536,65536,65536)");
  EXPECT_THAT(sizes_to_specialize(kernel, {{"k", {4097, 1, 1}}, {"k", {4096, 1, 1}}}),
              ElementsAre(GroupSize{4096, 1, 1}));
}

} // namespace
} // namespace clbin::listing
