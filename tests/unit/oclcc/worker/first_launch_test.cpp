#include "worker/first_launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

using clbin::format::DeviceFamily;
using clbin::format::KernelReflection;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

KernelReflection kernel_of(const std::string& name) {
  KernelReflection kernel;
  kernel.name = name;
  kernel.max_work_group_size = 4096;
  return kernel;
}

TEST(FirstLaunch, CompilesKernelsOfPoclWithoutASize) {
  KernelReflection specialized = kernel_of("a");
  specialized.specialized_sizes = {{8, 1, 1}};
  const std::vector kernels = {specialized, kernel_of("b")};
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::pocl, kernels), ElementsAre("b"));
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::nvidia, kernels), IsEmpty());
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::pocl, {}), IsEmpty());
}

TEST(FirstLaunch, IsNotKnownWithoutReflection) {
  KernelReflection bare;
  bare.name = "a";
  EXPECT_EQ(kernels_compiled_at_launch(DeviceFamily::pocl, {&bare, 1}), std::nullopt);
  EXPECT_THAT(*kernels_compiled_at_launch(DeviceFamily::oclgrind, {&bare, 1}), IsEmpty());
}

TEST(FirstLaunch, AsksPoclForLargeAndSmallGridsApart) {
  const auto passes =
      first_launch_passes(DeviceFamily::pocl, {GroupSize{16, 16, 1}, GroupSize{64, 1, 1}});
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].purpose, "while specializing for large grids");
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "16-16-1-goffs0,64-1-1-goffs0");
  EXPECT_EQ(passes[1].value, "16-16-1-goffs0-smallgrid,64-1-1-goffs0-smallgrid");
}

// Or it would remember, for the units that come after, that the variable was not set.
TEST(FirstLaunch, AsksPoclInAProcessOfItsOwnAlsoWithoutASize) {
  const auto passes = first_launch_passes(DeviceFamily::pocl, {});
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "");
}

TEST(FirstLaunch, AsksAsUsualWhereTheDriverMakesNoDifference) {
  EXPECT_THAT(first_launch_passes(DeviceFamily::nvidia, {GroupSize{16, 16, 1}}), IsEmpty());
  EXPECT_FALSE(needs_specialization(DeviceFamily::oclgrind));
}

} // namespace
} // namespace oclcc::worker
