// Queries of platforms and devices: the identity, and any value of clGetDeviceInfo.
#pragma once

#include "model/device.hpp"
#include "opencl/driver.hpp"

namespace clbin::opencl {

// Returns all platforms in the order of the ICD loader. Returns an empty list, not an error, if
// there is no platform (CL_PLATFORM_NOT_FOUND_KHR, cl_khr_icd). opencl_call: the query failed.
[[nodiscard]] base::Result<std::vector<cl_platform_id>> list_platforms(const Driver& driver);
// Returns the devices of all types. Returns an empty list if the platform has no device
// (CL_DEVICE_NOT_FOUND). opencl_call: the query failed.
[[nodiscard]] base::Result<std::vector<cl_device_id>> list_devices(const Driver& driver,
                                                                   cl_platform_id platform);

// Returns text without the null terminator. Empty for a value that the device or platform does not
// support (CL_INVALID_VALUE). opencl_call: the query failed for any other reason.
[[nodiscard]] base::Result<std::string> device_text(const Driver& driver, cl_device_id device,
                                                    cl_device_info name);
[[nodiscard]] base::Result<std::string> platform_text(const Driver& driver, cl_platform_id platform,
                                                      cl_platform_info name);

// Returns null for a device that reports no platform. opencl_call: the query failed.
[[nodiscard]] base::Result<cl_platform_id> device_platform(const Driver& driver,
                                                           cl_device_id device);

// Returns the root of the tree of a sub-device, or `device` itself if it is not a sub-device.
// opencl_call: a query failed.
[[nodiscard]] base::Result<cl_device_id> root_device(const Driver& driver, cl_device_id device);

// Returns the identity of `device`; of a sub-device, that of its parent, because PoCL loads the
// parent's binary. Never creates a sub-device, because that crashes rusticl 22.3 (doc/drivers.md).
// Values that the device does not support are empty or 0. opencl_call: a query failed.
[[nodiscard]] base::Result<format::DeviceIdentity> query_identity(const Driver& driver,
                                                                  cl_device_id device);

} // namespace clbin::opencl
