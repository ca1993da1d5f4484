#include "devices.hpp"

#include <gtest/gtest.h>

namespace runtime_demo {
namespace {

std::vector<Device> two_devices() {
  Device processor;
  processor.index = "0:0";
  processor.platform = "Portable Computing Language";
  processor.name = "pthread-EPYC";
  processor.kind = DeviceKind::cpu;
  Device card;
  card.index = "1:0";
  card.platform = "NVIDIA CUDA";
  card.name = "NVIDIA H200";
  card.kind = DeviceKind::gpu;
  return {processor, card};
}

std::vector<std::string> chosen(const std::vector<std::string>& patterns) {
  const Result<std::vector<Device>> devices = choose_devices(two_devices(), patterns);
  EXPECT_TRUE(devices.has_value());
  std::vector<std::string> indices;
  for (const Device& device : devices.value_or(std::vector<Device>())) {
    indices.push_back(device.index);
  }
  return indices;
}

TEST(ChooseDevices, MatchesKindsIndicesAndPartsOfNames) {
  const std::vector<std::string> both{"0:0", "1:0"};
  const std::vector<std::string> card{"1:0"};
  EXPECT_EQ(chosen({}), both);
  EXPECT_EQ(chosen({"all"}), both);
  EXPECT_EQ(chosen({"gpu"}), card);
  EXPECT_EQ(chosen({"cpu"}), std::vector<std::string>{"0:0"});
  EXPECT_EQ(chosen({"1:0"}), card);
  EXPECT_EQ(chosen({"h200"}), card);
  EXPECT_EQ(chosen({"nvidia cuda"}), card);
  EXPECT_EQ(chosen({"gpu", "epyc"}), both);
}

TEST(ChooseDevices, ListsWhatThereIsWhereAPatternMatchesNone) {
  const Result<std::vector<Device>> devices = choose_devices(two_devices(), {"gpu", "radeon"});
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().code, ExitCode::no_device);
  EXPECT_EQ(devices.error().message,
            "no device matches 'radeon'; there are: 0:0 'pthread-EPYC' of 'Portable Computing "
            "Language', 1:0 'NVIDIA H200' of 'NVIDIA CUDA'");
}

} // namespace
} // namespace runtime_demo
