// Questions to a device: its identity, and any value of clGetDeviceInfo.
#pragma once

#include "base/result.hpp"
#include "format/identity/device_identity.hpp"
#include "opencl/driver.hpp"

#include <string>
#include <vector>

namespace clbin::opencl {

// All platforms, in the ICD loader's order. No platform is an empty list, not an error
// (CL_PLATFORM_NOT_FOUND_KHR, cl_khr_icd). opencl_call.
[[nodiscard]] base::Result<std::vector<cl_platform_id>> list_platforms(const Driver& driver);
// All devices of all types. A platform without devices is an empty list (CL_DEVICE_NOT_FOUND).
[[nodiscard]] base::Result<std::vector<cl_device_id>> list_devices(const Driver& driver,
                                                                   cl_platform_id platform);

// Text values without the closing NUL. A value the device does not know (CL_INVALID_VALUE) is
// empty / 0; any other failure is opencl_call.
[[nodiscard]] base::Result<std::string> device_text(const Driver& driver, cl_device_id device,
                                                    cl_device_info name);
[[nodiscard]] base::Result<std::string> platform_text(const Driver& driver, cl_platform_id platform,
                                                      cl_platform_info name);

// Null for a device that names none. opencl_call.
[[nodiscard]] base::Result<cl_platform_id> device_platform(const Driver& driver,
                                                           cl_device_id device);

// The device itself unless it is a sub-device: then the root of its tree. opencl_call.
[[nodiscard]] base::Result<cl_device_id> root_device(const Driver& driver, cl_device_id device);

// Of a sub-device: the identity of its parent. PoCL loads the parent's binary, and creating
// sub-devices crashes rusticl 22.3, so none is ever created here (doc/drivers.md).
[[nodiscard]] base::Result<format::DeviceIdentity> query_identity(const Driver& driver,
                                                                  cl_device_id device);

} // namespace clbin::opencl
