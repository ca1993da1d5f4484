#include "layer/chosen_size.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>

namespace clbin::layer {
namespace {

struct Choice {
  struct {
    std::size_t largest_group, preferred_multiple, compute_units;
  } device;
  LocalSize global;
  LocalSize local;
};

// What pocl_default_local_size_optimizer of PoCL 3.1 returns, called by itself. A random comparison
// of the two functions found no difference (doc/drivers.md, "PoCL").
constexpr Choice k_choices[] = {
    {{4096, 8, 2}, {1, 1, 1}, {1, 1, 1}},         {{4096, 8, 2}, {7, 1, 1}, {7, 1, 1}},
    {{4096, 8, 2}, {1009, 1, 1}, {1009, 1, 1}},   {{4096, 8, 2}, {8191, 1, 1}, {1, 1, 1}},
    {{4096, 8, 2}, {4096, 1, 1}, {2048, 1, 1}},   {{4096, 8, 2}, {8192, 1, 1}, {4096, 1, 1}},
    {{4096, 8, 2}, {100000, 1, 1}, {4000, 1, 1}}, {{4096, 8, 2}, {640, 360, 1}, {40, 1, 1}},
    {{4096, 8, 2}, {37, 41, 1}, {37, 41, 1}},     {{4096, 8, 2}, {1, 5000, 1}, {1, 1000, 1}},
    {{4096, 8, 2}, {12, 10, 6}, {12, 10, 1}},     {{4096, 8, 2}, {64, 64, 64}, {64, 8, 8}},
    {{4096, 8, 2}, {97, 89, 83}, {97, 1, 1}},     {{4096, 8, 64}, {4096, 1, 1}, {64, 1, 1}},
    {{4096, 8, 64}, {640, 360, 1}, {40, 1, 1}},   {{4096, 8, 64}, {64, 64, 1}, {8, 8, 1}},
    {{4096, 8, 64}, {48, 20, 6}, {24, 4, 1}},     {{4096, 8, 16}, {1000, 1, 1}, {200, 1, 1}},
    {{4096, 8, 16}, {30, 30, 30}, {30, 30, 1}},   {{64, 8, 4}, {1009, 1, 1}, {1, 1, 1}},
    {{64, 8, 4}, {100, 100, 1}, {20, 1, 1}},      {{16, 8, 4}, {24, 24, 24}, {8, 1, 1}},
    {{4096, 1, 8}, {1000, 10, 1}, {250, 5, 1}},   {{8, 8, 2}, {12, 7, 1}, {4, 1, 1}},
};

PoclLimits limits_of(const Choice& choice) {
  const std::size_t most = choice.device.largest_group;
  return {{most, most, most}, most, choice.device.preferred_multiple, choice.device.compute_units};
}

TEST(PoclLocalSize, IsWhatPoclChooses) {
  for (const Choice& choice : k_choices) {
    const auto local = pocl_local_size(limits_of(choice), choice.global);
    ASSERT_TRUE(local.has_value());
    EXPECT_EQ(*local, choice.local)
        << fmt::format("{}x{}x{} on {} units of {}", choice.global[0], choice.global[1],
                       choice.global[2], choice.device.compute_units, choice.device.largest_group);
  }
}

TEST(PoclLocalSize, IsUnknownWithoutAWorkItem) {
  const PoclLimits limits = limits_of(k_choices[0]);
  EXPECT_FALSE(pocl_local_size(limits, {0, 1, 1}).has_value());
  EXPECT_FALSE(pocl_local_size(limits, {64, 1, 0}).has_value());
}

TEST(PoclLocalSize, IsUnknownIfTheDeviceDoesNotReportItsLimits) {
  const PoclLimits limits = limits_of(k_choices[0]);
  for (std::size_t PoclLimits::*const limit :
       {&PoclLimits::largest_group, &PoclLimits::preferred_multiple, &PoclLimits::compute_units}) {
    PoclLimits unknown = limits;
    unknown.*limit = 0;
    EXPECT_FALSE(pocl_local_size(unknown, {64, 1, 1}).has_value());
  }
  EXPECT_FALSE(pocl_local_size({{0, 0, 0}, 64, 8, 2}, {64, 1, 1}).has_value());
}

// PoCL itself ends the process there.
TEST(PoclLocalSize, IsUnknownIfTheMultipleDoesNotFitIntoAWorkGroup) {
  EXPECT_FALSE(pocl_local_size({{4, 4, 4}, 4, 8, 2}, {64, 1, 1}).has_value());
  EXPECT_TRUE(pocl_local_size({{4, 4, 4}, 4, 8, 2}, {7, 1, 1}).has_value());
}

TEST(PoclLocalSize, EndsForTheLargestSizes) {
  constexpr std::size_t k_most = std::numeric_limits<std::size_t>::max();
  const PoclLimits limits = limits_of(k_choices[0]);
  EXPECT_TRUE(pocl_local_size(limits, {k_most, 1, 1}).has_value());
  EXPECT_TRUE(pocl_local_size(limits, {k_most, k_most, k_most}).has_value());
}

} // namespace
} // namespace clbin::layer
