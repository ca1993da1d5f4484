#include "loader/load_devices.hpp"

#include "opencl/driver.hpp"
#include "opencl/device_query.hpp"

#include <algorithm>
#include <iterator>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

namespace {

Result<std::vector<cl_device_id>> context_devices(const opencl::Driver& driver,
                                                  cl_context context) {
  std::size_t size = 0;
  cl_int code = driver.GetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size);
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  if (code == CL_SUCCESS) {
    code = driver.GetContextInfo(context, CL_CONTEXT_DEVICES, devices.size() * sizeof(cl_device_id),
                                 devices.data(), nullptr);
  }
  if (code != CL_SUCCESS) {
    return base::fail(ErrorCode::opencl_call, "clGetContextInfo(CL_CONTEXT_DEVICES) failed: {}",
                      opencl::cl_error_name(code));
  }
  return devices;
}

// PoCL's context of a sub-device lists the parent device instead.
Result<bool> is_of_context(const opencl::Driver& driver, const std::vector<cl_device_id>& known,
                           cl_device_id device) {
  const auto is_known = [&](cl_device_id wanted) {
    return std::find(known.begin(), known.end(), wanted) != known.end();
  };
  if (is_known(device)) {
    return true;
  }
  CLBIN_TRY_ASSIGN(cl_device_id root, opencl::root_device(driver, device));
  return is_known(root);
}

} // namespace

Result<void> check_devices(const opencl::Driver& driver, cl_context context,
                           const LoadRequest& request) {
  if (request.devices.empty()) {
    return base::fail(ErrorCode::invalid_argument, "no device to load program '{}' for",
                      request.program);
  }
  CLBIN_TRY_ASSIGN(const auto known, context_devices(driver, context));
  for (auto device = request.devices.begin(); device != request.devices.end(); ++device) {
    const auto index = std::distance(request.devices.begin(), device);
    CLBIN_TRY_ASSIGN(const bool is_of, is_of_context(driver, known, *device));
    if (!is_of) {
      return base::fail(ErrorCode::invalid_argument, "device {} is not a device of the context",
                        index);
    }
    if (std::find(request.devices.begin(), device, *device) != device) {
      return base::fail(ErrorCode::invalid_argument, "device {} is given twice", index);
    }
  }
  return {};
}

Result<std::vector<format::DeviceIdentity>>
query_identities(const opencl::Driver& driver, const LoadRequest& request, LoadReport& report) {
  std::vector<format::DeviceIdentity> identities;
  for (cl_device_id device : request.devices) {
    CLBIN_TRY_ASSIGN(auto identity, opencl::query_identity(driver, device));
    report.devices.push_back(fmt::format("{} / {} / {}", identity.platform_name,
                                         identity.device_name, identity.driver_version));
    identities.push_back(std::move(identity));
  }
  return identities;
}

} // namespace clbin::loader
