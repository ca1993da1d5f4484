#include "worker/driver_rules.hpp"

#include "format/binary/binary_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

using clbin::format::DeviceFamily;
using ::testing::IsEmpty;

TEST(FirstLaunch, AsksPoclForLargeAndSmallGridsApart) {
  const auto passes =
      first_launch_passes(DeviceFamily::pocl, {GroupSize{16, 16, 1}, GroupSize{64, 1, 1}}, {});
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].purpose, "while specializing for large grids");
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "16-16-1-goffs0,64-1-1-goffs0");
  EXPECT_EQ(passes[1].value, "16-16-1-goffs0-smallgrid,64-1-1-goffs0-smallgrid");
}

TEST(FirstLaunch, AsksPoclForOffsetsWhereThereAreSuchLaunches) {
  const auto passes = first_launch_passes(
      DeviceFamily::pocl, {GroupSize{16, 16, 1}, GroupSize{64, 1, 1}}, {GroupSize{64, 1, 1}});
  ASSERT_EQ(passes.size(), 4U);
  EXPECT_EQ(passes[1].value, "16-16-1-goffs0-smallgrid,64-1-1-goffs0-smallgrid");
  EXPECT_EQ(passes[2].purpose, "while specializing for large grids with an offset");
  EXPECT_EQ(passes[2].value, "64-1-1");
  EXPECT_EQ(passes[3].value, "64-1-1-smallgrid");
}

// Otherwise the process would remember, for later units, that the variable was not set.
TEST(FirstLaunch, AsksPoclInAProcessOfItsOwnAlsoWithoutASize) {
  const auto passes = first_launch_passes(DeviceFamily::pocl, {}, {});
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "");
}

TEST(FirstLaunch, AsksAsUsualWhereTheDriverMakesNoDifference) {
  EXPECT_THAT(first_launch_passes(DeviceFamily::nvidia, {GroupSize{16, 16, 1}}, {}), IsEmpty());
  EXPECT_FALSE(needs_specialization(DeviceFamily::oclgrind));
}

UnitIsolation isolation_on(const char* platform) {
  clbin::format::DeviceIdentity identity;
  identity.platform_name = platform;
  return unit_isolation(identity);
}

TEST(UnitIsolation, IsACopyWhereTheDriverKeepsStateThatShowsInBinaries) {
  EXPECT_EQ(isolation_on("Portable Computing Language"), UnitIsolation::copy);
  EXPECT_EQ(isolation_on("Intel(R) OpenCL"), UnitIsolation::copy);
}

TEST(UnitIsolation, WarmUpIsIlWhereOnlySourceShowsInLaterBinaries) {
  clbin::format::DeviceIdentity intel;
  intel.platform_name = "Intel(R) OpenCL";
  EXPECT_EQ(warm_up_for(intel), WarmUp::source); // it accepts no IL
  intel.il_versions = {"SPIR-V_1.0", "SPIR-V_1.4"};
  EXPECT_EQ(warm_up_for(intel), WarmUp::il);
  clbin::format::DeviceIdentity pocl = intel;
  pocl.platform_name = "Portable Computing Language";
  EXPECT_EQ(warm_up_for(pocl), WarmUp::source);
}

TEST(UnitIsolation, WarmUpModuleHasOneKernelWithoutParameters) {
  const auto module = clbin::format::read_spirv_module(warm_up_module());
  ASSERT_TRUE(module.has_value()) << module.error().message;
  EXPECT_EQ(module->version_major, 1);
  EXPECT_EQ(module->version_minor, 0);
  EXPECT_EQ(module->address_bits, 64);
  ASSERT_EQ(module->kernels.size(), 1U);
  EXPECT_EQ(module->kernels[0].name, "warm_up");
  EXPECT_TRUE(module->imports.empty());
}

TEST(UnitIsolation, IsAContextWhereTheDriverKeepsNoSuchState) {
  EXPECT_EQ(isolation_on("rusticl"), UnitIsolation::context);
  EXPECT_EQ(isolation_on("Oclgrind"), UnitIsolation::context);
  EXPECT_EQ(isolation_on("NVIDIA CUDA"), UnitIsolation::context);
}

TEST(UnitIsolation, IsAProcessWhereNobodyMeasuredTheDriver) {
  for (const char* const platform : {"AMD Accelerated Parallel Processing",
                                     "Intel(R) OpenCL Graphics", "clvk", "A driver of tomorrow"}) {
    EXPECT_EQ(isolation_on(platform), UnitIsolation::process) << platform;
  }
}

} // namespace
} // namespace oclcc::worker
