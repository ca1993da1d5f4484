#include "worker/driver_rules.hpp"

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

} // namespace
} // namespace oclcc::worker
