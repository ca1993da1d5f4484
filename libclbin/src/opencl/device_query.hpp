// Queries of platforms and devices: the identity, and any value of clGetDeviceInfo.
#pragma once

#include "format/binary/spirv_features.hpp"
#include "model/device.hpp"
#include "opencl/driver.hpp"

namespace clbin::opencl {

// No real answer is longer; a driver that reports a larger size is wrong.
inline constexpr std::size_t k_max_answer_bytes = 64U << 20U;

// `ask` is a function with the last three parameters of a query, such as
// std::bind_front(driver.GetDeviceInfo, device, CL_DEVICE_NAME). Errors are those of the driver.

// Asks for a value of fixed size.
template <typename T, typename Ask>
[[nodiscard]] tl::expected<T, cl_int> ask_value(const Ask& ask) {
  T value{};
  // NOLINTNEXTLINE(bugprone-sizeof-expression): if T is a handle, the handle is the value.
  if (const cl_int code = ask(sizeof(T), static_cast<void*>(&value), nullptr); code != CL_SUCCESS) {
    return tl::unexpected(code);
  }
  return value;
}

// Asks for a list, such as CL_CONTEXT_DEVICES. Empty if it is longer than `max_bytes`.
template <typename Item, typename Ask>
[[nodiscard]] tl::expected<std::vector<Item>, cl_int>
ask_list(const Ask& ask, std::size_t max_bytes = k_max_answer_bytes) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): items may be handles, which are pointers
  constexpr std::size_t k_item_bytes = sizeof(Item);
  std::size_t size = 0;
  cl_int code = ask(0, nullptr, &size);
  std::vector<Item> items(code == CL_SUCCESS && size <= max_bytes ? size / k_item_bytes : 0);
  if (!items.empty()) {
    code = ask(items.size() * k_item_bytes, static_cast<void*>(items.data()), nullptr);
  }
  if (code != CL_SUCCESS) {
    return tl::unexpected(code);
  }
  return items;
}

// Asks for a text, without its null terminator. Empty if the driver does not report it.
template <typename Ask>
[[nodiscard]] std::string ask_text(const Ask& ask, std::size_t max_bytes = k_max_answer_bytes) {
  const std::vector<char> text = ask_list<char>(ask, max_bytes).value_or(std::vector<char>());
  return {text.begin(), std::ranges::find(text, '\0')};
}

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

// Returns zeros for a value that the device does not support. opencl_call: the query failed
// otherwise.
template <typename T>
[[nodiscard]] base::Result<T> device_value(const Driver& driver, cl_device_id device,
                                           cl_device_info name) {
  const auto value = ask_value<T>(std::bind_front(driver.GetDeviceInfo, device, name));
  if (!value && value.error() != CL_INVALID_VALUE) {
    return call_failed("clGetDeviceInfo", {}, value.error());
  }
  return value.value_or(T{});
}

// Returns the features of SPIR-V that the device accepts: what it lists (cl_khr_spirv_queries),
// otherwise what the OpenCL SPIR-V Environment Specification requires for the features and
// extensions that it has. opencl_call: a query failed.
[[nodiscard]] base::Result<format::SpirvFeatures> query_spirv_features(const Driver& driver,
                                                                       cl_device_id device);

// Returns the words of CL_DEVICE_EXTENSIONS, and the names of CL_DEVICE_OPENCL_C_FEATURES.
// opencl_call: a query failed.
[[nodiscard]] base::Result<std::vector<std::string>> device_extensions(const Driver& driver,
                                                                       cl_device_id device);

// Returns null for a device that reports no platform. opencl_call: the query failed.
[[nodiscard]] base::Result<cl_platform_id> device_platform(const Driver& driver,
                                                           cl_device_id device);

// Returns the root of the tree of a sub-device; `device` itself if it is none. opencl_call.
[[nodiscard]] base::Result<cl_device_id> root_device(const Driver& driver, cl_device_id device);

// Returns the identity of `device`; of a sub-device, that of its parent, because PoCL loads the
// parent's binary. Never creates a sub-device, because that crashes rusticl 22.3 (doc/drivers.md).
// Values that the device does not support are empty or 0. opencl_call: a query failed.
[[nodiscard]] base::Result<format::DeviceIdentity> query_identity(const Driver& driver,
                                                                  cl_device_id device);

} // namespace clbin::opencl
