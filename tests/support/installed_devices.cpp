#include "support/installed_devices.hpp"

#include "opencl/device_query.hpp"
#include "opencl/driver.hpp"

#include <gtest/gtest.h>

namespace clbin::test {

std::vector<InstalledDevice> installed_devices(std::string& reason_for_none) {
  const auto driver = opencl::open_icd_driver();
  if (!driver) {
    reason_for_none = driver.error().message;
    return {};
  }
  const auto platforms = opencl::list_platforms(*driver);
  if (!platforms) {
    reason_for_none = platforms.error().message;
    return {};
  }
  std::vector<InstalledDevice> result;
  for (cl_platform_id platform : *platforms) {
    const auto devices = opencl::list_devices(*driver, platform);
    EXPECT_TRUE(devices.has_value()) << devices.error().message;
    for (cl_device_id device : devices.value_or(std::vector<cl_device_id>())) {
      const std::string platform_name =
          opencl::platform_text(*driver, platform, CL_PLATFORM_NAME).value_or("?");
      const std::string device_name =
          opencl::device_text(*driver, device, CL_DEVICE_NAME).value_or("?");
      result.push_back({*driver, platform, device, platform_name + " / " + device_name});
    }
  }
  if (result.empty()) {
    reason_for_none = "this machine has no OpenCL device";
  }
  return result;
}

opencl::Context make_context(const InstalledDevice& installed) {
  cl_int code = CL_SUCCESS;
  opencl::Context context(
      installed.driver.CreateContext(nullptr, 1, &installed.device, nullptr, nullptr, &code),
      installed.driver.ReleaseContext);
  EXPECT_EQ(code, CL_SUCCESS) << installed.name << ": " << opencl::cl_error_name(code);
  return context;
}

} // namespace clbin::test
