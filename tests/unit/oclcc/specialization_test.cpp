#include "specialization.hpp"

#include "worker/first_launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::DeviceFamily;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
              "'--specialize' takes KERNEL=SIZE, as matmul=16x16 or scale=64: one to three "
              "numbers from 1 to 65536; not '" +
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

TEST(FirstLaunch, AsksPoclForLargeAndSmallGridsApart) {
  const auto passes =
      worker::first_launch_passes(DeviceFamily::pocl, {GroupSize{16, 16, 1}, GroupSize{64, 1, 1}});
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].purpose, "while specializing for large grids");
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "16-16-1-goffs0,64-1-1-goffs0");
  EXPECT_EQ(passes[1].value, "16-16-1-goffs0-smallgrid,64-1-1-goffs0-smallgrid");
}

// Or it would remember, for the units that come after, that the variable was not set.
TEST(FirstLaunch, AsksPoclInAProcessOfItsOwnAlsoWithoutASize) {
  const auto passes = worker::first_launch_passes(DeviceFamily::pocl, {});
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_EQ(passes[0].variable, "POCL_BINARY_SPECIALIZE_WG");
  EXPECT_EQ(passes[0].value, "");
}

TEST(FirstLaunch, AsksAsUsualWhereTheDriverMakesNoDifference) {
  EXPECT_THAT(worker::first_launch_passes(DeviceFamily::nvidia, {GroupSize{16, 16, 1}}), IsEmpty());
  EXPECT_FALSE(worker::needs_specialization(DeviceFamily::oclgrind));
}

} // namespace
} // namespace oclcc
