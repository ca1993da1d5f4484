#include "measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runtime_demo {
namespace {

using ::testing::HasSubstr;

const KernelCase& case_of(const char* name) {
  return *find_kernels(name).front();
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 100, 2}), 3);
}

TEST(Measurement, ComputesRatesFromTheMedianLaunch) {
  Measurement measurement;
  measurement.kernel = &case_of("sgemm");
  measurement.size = {100, 100, 100};
  measurement.launches_ms = {1, 2, 4};
  measurement.serial.seconds = 0.01;
  EXPECT_DOUBLE_EQ(measurement.mflops(), 1000);
  EXPECT_DOUBLE_EQ(measurement.times_serial(), 5);
  EXPECT_EQ(measurement.gigabytes_per_second(), 0);
  measurement.kernel = &case_of("vadd");
  EXPECT_DOUBLE_EQ(measurement.gigabytes_per_second(), 0.06);
}

TEST(Measurement, HasNoRatesWhereNothingWasTimed) {
  Measurement measurement;
  measurement.kernel = &case_of("sgemm");
  measurement.size = {100, 100, 100};
  EXPECT_EQ(measurement.mflops(), 0);
  EXPECT_EQ(measurement.times_serial(), 0);
}

TEST(DefaultSize, IsTheSourcesOrSmallOnASimulator) {
  Device device;
  EXPECT_EQ(default_size(case_of("mat_mul"), device), (Size{1024, 1024, 1024}));
  device.is_simulator = true;
  EXPECT_EQ(default_size(case_of("mat_mul"), device), (Size{64, 64, 64}));
  EXPECT_EQ(default_size(case_of("matMul"), device), (Size{64, 62, 64}));
  EXPECT_EQ(default_size(case_of("dotProduct"), device), (Size{10'000, 1, 1}));
}

TEST(DefaultSize, OfAProductOnACpuIsWithinTheLimits) {
  Device device;
  device.kind = DeviceKind::cpu;
  EXPECT_EQ(default_size(case_of("mat_mul"), device), (Size{1024, 1024, 1024}));
  EXPECT_EQ(default_size(case_of("mat_mul"), device, k_quick_limits), (Size{512, 512, 512}));
  EXPECT_EQ(default_size(case_of("matMul"), device, k_quick_limits), (Size{64, 62, 64}));
  EXPECT_EQ(default_size(case_of("transpose"), device, k_quick_limits), (Size{256, 4096, 1}));
  EXPECT_EQ(default_size(case_of("dotProduct"), device, k_quick_limits), (Size{10'000, 1, 1}));
  device.kind = DeviceKind::gpu;
  EXPECT_EQ(default_size(case_of("mat_mul"), device, k_quick_limits), (Size{1024, 1024, 1024}));
}

TEST(LargerSize, IsExpectedToLaunchWithinTheLimit) {
  const Size most{512, 512, 512};
  const Size small{32, 32, 32};
  EXPECT_EQ(larger_size(small, most, 1, 64), (Size{128, 128, 128})); // 4^3 times the work
  EXPECT_EQ(larger_size(small, most, 1, 63), (Size{64, 64, 64}));
  EXPECT_EQ(larger_size(small, most, 1, 7), std::nullopt);
  EXPECT_EQ(larger_size({256, 256, 256}, most, 1, 8), most);
  EXPECT_EQ(larger_size(most, most, 0, 8), std::nullopt);
}

TEST(LargerSize, KeepsTheSidesThatAreShorter) {
  EXPECT_EQ(larger_size({32, 32, 1}, {256, 4096, 1}, 1, 16), (Size{128, 128, 1}));
  EXPECT_EQ(larger_size({256, 256, 1}, {256, 4096, 1}, 1, 4), (Size{256, 1024, 1}));
  EXPECT_EQ(larger_size({32, 1, 1}, {33, 1, 1}, 1, 2), (Size{33, 1, 1}));
}

TEST(CheckFits, NamesTheBufferOrTheTotalThatIsTooLarge) {
  Device device;
  device.index = "0:0";
  device.name = "small";
  device.global_memory = 9 << 20;
  device.largest_buffer = 4 << 20;
  const KernelCase& kernel = case_of("mat_mul");
  const Result<void> one = check_fits(kernel, {1024, 1025, 1024}, device);
  ASSERT_FALSE(one.has_value());
  EXPECT_EQ(one.error().code, ExitCode::command_line);
  EXPECT_THAT(one.error().message, HasSubstr("on 0:0 'small': a matrix needs 4 MiB, its largest "
                                             "buffer has 4 MiB"));
  const Result<void> all = check_fits(kernel, {1024, 1024, 1024}, device);
  ASSERT_FALSE(all.has_value());
  EXPECT_THAT(all.error().message, HasSubstr("it needs 12 MiB, the device has 9 MiB"));
  EXPECT_TRUE(check_fits(kernel, {512, 512, 512}, device).has_value());
}

} // namespace
} // namespace runtime_demo
