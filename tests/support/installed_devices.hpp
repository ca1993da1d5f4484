// Every OpenCL device of this machine, for tests that need a real driver.
#pragma once

#include "opencl/driver.hpp"

#include <string>
#include <vector>

namespace clbin::test {

struct InstalledDevice {
  opencl::Driver driver;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string name; // "PLATFORM / DEVICE"
};

// Empty if there is none. `reason_for_none` then contains the reason, for GTEST_SKIP.
[[nodiscard]] std::vector<InstalledDevice> installed_devices(std::string& reason_for_none);

// Returns null, with a failed expectation, if the driver fails.
[[nodiscard]] opencl::Context make_context(const InstalledDevice& installed);

} // namespace clbin::test

// Runs its body for every device, with `installed` naming it. Skips the test if there is none.
#define CLBIN_FOR_EACH_DEVICE(installed)                                                           \
  std::string clbin_no_device_reason;                                                              \
  const auto clbin_devices = ::clbin::test::installed_devices(clbin_no_device_reason);             \
  if (clbin_devices.empty()) {                                                                     \
    GTEST_SKIP() << clbin_no_device_reason;                                                        \
  }                                                                                                \
  for (const auto& installed : clbin_devices)
