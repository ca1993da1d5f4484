#include "targets/machine_description.hpp"

#include "base/file_io.hpp"

#include <CL/cl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>

namespace oclcc {
namespace {

using clbin::base::ErrorCode;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

worker::DeviceDescription odd_device() {
  worker::DeviceDescription device;
  device.type = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CUSTOM;
  device.identity.platform_name = "Portable \x10 \xff Language";
  device.identity.device_name = "cpu-Intel(R) \"Core\"\n $HOME";
  device.identity.vendor_id = 0xffffffff;
  device.identity.opencl_c_versions = {"OpenCL C 1.2 \xc3\x28"};
  device.identity.address_bits = 64;
  return device;
}

// A document in a file of its own.
class MachineFile : public testing::Test {
protected:
  void SetUp() override {
    m_file =
        std::filesystem::path(testing::TempDir()) /
        (std::string("machine-") + testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { std::filesystem::remove(m_file); }

  [[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
  read(const std::string& text) const {
    EXPECT_TRUE(clbin::base::write_output_file(m_file, std::as_bytes(std::span(text))));
    return read_machine(m_file);
  }

  [[nodiscard]] std::string refusal(const std::string& text) const {
    const auto devices = read(text);
    EXPECT_FALSE(devices);
    return devices ? ""
                   : fmt::format("{} {}", static_cast<int>(devices.error().code),
                                 devices.error().message);
  }

  std::filesystem::path m_file;
};

TEST_F(MachineFile, ContainsEveryByteOfADevice) {
  const worker::DeviceDescription device = odd_device();
  const auto read_back = read(clbin::base::write_json({machine_json({{device}, {}})}));
  ASSERT_TRUE(read_back) << read_back.error().message;
  ASSERT_EQ(read_back->size(), 1U);
  EXPECT_EQ(read_back->front().identity, device.identity);
  EXPECT_EQ(read_back->front().type, device.type);
  EXPECT_TRUE(read_back->front().compiler_available);
}

TEST_F(MachineFile, IsRefusedIfAFeatureIsNotThatOfItsDevice) {
  JsonObject members = machine_json({{odd_device()}, {}});
  auto& device = std::get<JsonObject>(std::get<JsonArray>(members["devices"].value)[0].value);
  device["driver_version"].value = std::string("2");
  const auto devices = read(clbin::base::write_json({members}));
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(devices.error().message,
              AllOf(HasSubstr("is not a document of 'oclcc --identity --json': 'oclcc_"),
                    HasSubstr("' is not the feature of its device, which is 'oclcc_")));
}

TEST_F(MachineFile, IsRefusedWithTheReasonIfItIsAnotherDocument) {
  EXPECT_THAT(refusal("Feature=a"), HasSubstr("is not a document of 'oclcc --identity --json': "));
  EXPECT_THAT(refusal("[]"), HasSubstr(": it lists no devices"));
  EXPECT_THAT(refusal("{\"devices\": {}}"), HasSubstr(": it lists no devices"));
  EXPECT_THAT(refusal("{\"devices\": [1]}"), HasSubstr(": a device is not an object"));
  EXPECT_THAT(refusal("{\"devices\": [{}]}"), HasSubstr(": 'platform_name' is not a text"));
}

TEST_F(MachineFile, ThatDoesNotExistIsAnErrorThatNamesIt) {
  const auto devices = read_machine("nowhere.json");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::file_not_found);
  EXPECT_THAT(devices.error().message, HasSubstr("nowhere.json"));
}

TEST(Feature, ConsistsOfLettersThatNoSchedulerHasToQuote) {
  EXPECT_THAT(device_feature(odd_device().identity),
              MatchesRegex("oclcc_[a-z]+_cpu_intel_r_core_home_[0-9a-f]{16}"));
  EXPECT_THAT(device_feature({}), MatchesRegex("oclcc_[a-z]+_[0-9a-f]{16}"));
}

TEST(Feature, DiffersIfAProgramForAnOfflineTargetDiffers) {
  const std::string one = tools_feature("nvptx:sm_70", {{"clang", "digest 1"}});
  EXPECT_THAT(one, MatchesRegex("oclcc_nvptx_[0-9a-f]{16}"));
  EXPECT_EQ(one, tools_feature("nvptx:sm_90", {{"clang", "digest 1"}}));
  EXPECT_NE(one, tools_feature("nvptx:sm_70", {{"clang", "digest 2"}}));
}

TEST(MachineDescription, ListsItsFeaturesInAscendingOrder) {
  EXPECT_THAT(features_of({{odd_device()}, {{"oclcc_a", {}}, {"oclcc_z", {}}}}),
              ElementsAre("oclcc_a", device_feature(odd_device().identity), "oclcc_z"));
}

} // namespace
} // namespace oclcc
