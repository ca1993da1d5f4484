#include "targets/patterns.hpp"

#include <CL/cl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using ::testing::ElementsAre;
using worker::DeviceDescription;

DeviceDescription device(std::uint32_t platform, std::uint32_t number, cl_ulong type,
                         const std::string& platform_name, const std::string& name) {
  DeviceDescription description;
  description.platform = platform;
  description.device = number;
  description.type = type;
  description.identity.platform_name = platform_name;
  description.identity.device_name = name;
  return description;
}

std::vector<DeviceDescription> some_devices() {
  return {device(0, 0, CL_DEVICE_TYPE_GPU, "NVIDIA CUDA", "NVIDIA H200"),
          device(0, 1, CL_DEVICE_TYPE_GPU, "NVIDIA CUDA", "NVIDIA T4"),
          device(1, 0, CL_DEVICE_TYPE_CPU, "Portable Computing Language", "pthread-H200-like"),
          device(2, 0, CL_DEVICE_TYPE_ACCELERATOR, "FPGA", "Board 0:1")};
}

std::vector<std::string> selected(const std::vector<std::string>& patterns) {
  const auto devices = select_devices(some_devices(), patterns);
  if (!devices) {
    return {devices.error().message};
  }
  std::vector<std::string> numbers;
  for (const DeviceDescription& chosen : *devices) {
    numbers.push_back(std::to_string(chosen.platform) + ":" + std::to_string(chosen.device));
  }
  return numbers;
}

TEST(DevicePattern, SelectsAllWithoutAPattern) {
  EXPECT_THAT(selected({}), ElementsAre("0:0", "0:1", "1:0", "2:0"));
  EXPECT_THAT(selected({"all"}), ElementsAre("0:0", "0:1", "1:0", "2:0"));
}

TEST(DevicePattern, SelectsByType) {
  EXPECT_THAT(selected({"gpu"}), ElementsAre("0:0", "0:1"));
  EXPECT_THAT(selected({"CPU"}), ElementsAre("1:0"));
  EXPECT_THAT(selected({"accelerator"}), ElementsAre("2:0"));
}

TEST(DevicePattern, PrefersAWholeNameToAPartOfLongerOnes) {
  auto devices = some_devices();
  devices.push_back(device(3, 0, CL_DEVICE_TYPE_GPU, "Other", "NVIDIA H200 NVL"));
  const auto whole = select_devices(devices, {"nvidia h200"});
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), 1U);
  EXPECT_EQ(whole->front().identity.device_name, "NVIDIA H200");
  const auto both = select_devices(devices, {"NVIDIA H200", "cpu"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->size(), 2U);
}

TEST(DevicePattern, SelectsByNumber) {
  EXPECT_THAT(selected({"0:1"}), ElementsAre("0:1"));
  EXPECT_THAT(selected({"0"}), ElementsAre("0:0", "0:1"));
}

TEST(DevicePattern, SelectsByAPartOfANameInAnyCase) {
  EXPECT_THAT(selected({"h200"}), ElementsAre("0:0", "1:0"));
  EXPECT_THAT(selected({"portable"}), ElementsAre("1:0"));
}

TEST(DevicePattern, KeepsTheOrderOfTheDevicesAndNamesEachOnce) {
  EXPECT_THAT(selected({"2", "gpu", "0:0"}), ElementsAre("0:0", "0:1", "2:0"));
}

TEST(DevicePattern, ListsWhatThereIsWhenNothingMatches) {
  const auto devices = select_devices(some_devices(), {"gpu", "radeon"});
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, clbin::base::ErrorCode::no_device);
  EXPECT_EQ(devices.error().message,
            "no device matches 'radeon'; there are 0:0 'NVIDIA H200' (NVIDIA CUDA), 0:1 'NVIDIA "
            "T4' (NVIDIA CUDA), 1:0 'pthread-H200-like' (Portable Computing Language), 2:0 "
            "'Board 0:1' (FPGA)");
}

TEST(DevicePattern, MatchesNothingWithNumbersThatAreNotThere) {
  for (const char* pattern : {"7", "0:7", "99999999999", "0:x", ":0", "-1", ""}) {
    EXPECT_FALSE(select_devices(some_devices(), {pattern})) << pattern;
  }
}

TEST(DevicePattern, TakesADeviceOfSeveralTypesForEach) {
  const auto simulator = device(0, 0, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU, "Oclgrind", "Sim");
  EXPECT_TRUE(matches_pattern(simulator, "cpu"));
  EXPECT_TRUE(matches_pattern(simulator, "gpu"));
  EXPECT_FALSE(matches_pattern(simulator, "accelerator"));
}

} // namespace
} // namespace oclcc
