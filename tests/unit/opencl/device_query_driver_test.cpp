#include "opencl/device_query.hpp"
#include "support/installed_devices.hpp"

#include <gtest/gtest.h>

namespace clbin::opencl {
namespace {

TEST(DeviceQuery, FillsTheIdentityOfEveryInstalledDevice) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const auto identity = query_identity(installed.driver, installed.device);
    ASSERT_TRUE(identity.has_value()) << identity.error().message;
    EXPECT_EQ(identity->platform_name + " / " + identity->device_name, installed.name);
    EXPECT_TRUE(identity->platform_version.starts_with("OpenCL ")) << identity->platform_version;
    EXPECT_TRUE(identity->device_version.starts_with("OpenCL ")) << identity->device_version;
    EXPECT_FALSE(identity->vendor.empty());
    EXPECT_FALSE(identity->driver_version.empty());
    EXPECT_FALSE(identity->opencl_c_versions.empty());
    EXPECT_TRUE(identity->address_bits == 32 || identity->address_bits == 64);
  }
}

TEST(DeviceQuery, GivesTheSameIdentityTwice) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const auto first = query_identity(installed.driver, installed.device);
    const auto second = query_identity(installed.driver, installed.device);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(*first, *second);
  }
}

TEST(DeviceQuery, AnswersEmptyForAValueThatTheDeviceDoesNotKnow) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    constexpr cl_device_info k_nobody_knows = 0x7fff0001;
    const auto text = device_text(installed.driver, installed.device, k_nobody_knows);
    ASSERT_TRUE(text.has_value()) << text.error().message;
    EXPECT_EQ(*text, "");
  }
}

} // namespace
} // namespace clbin::opencl
