#include "listing/launch_compilation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::listing {
namespace {

using format::DeviceFamily;
using format::KernelReflection;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

KernelReflection kernel_of(const std::string& name) {
  KernelReflection kernel;
  kernel.name = name;
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

} // namespace
} // namespace clbin::listing
