#include "worker/worker_session.hpp"

#include "opencl/cl_error.hpp"
#include "opencl/cl_handles.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"
#include "worker/device_properties.hpp"

#include <dlfcn.h>

namespace oclcc::worker {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::opencl::Driver;

namespace {

// An ICD's objects begin with the table of its functions (cl_khr_icd): one of them tells which
// library the platform lives in, wherever the loader found it.
std::string library_of(cl_platform_id platform) {
  void* const* const table = *reinterpret_cast<void* const* const*>(platform);
  Dl_info facts{};
  if (table == nullptr || ::dladdr(table[0], &facts) == 0 || facts.dli_fname == nullptr) {
    return {};
  }
  return facts.dli_fname;
}

template <typename T>
T device_number(const Driver& driver, cl_device_id device, cl_device_info name, T otherwise) {
  T value{};
  const cl_int code = driver.GetDeviceInfo(device, name, sizeof(value), &value, nullptr);
  return code == CL_SUCCESS ? value : otherwise;
}

Result<DeviceDescription> describe_device(const Driver& driver, cl_device_id device) {
  DeviceDescription description;
  description.type = device_number<cl_device_type>(driver, device, CL_DEVICE_TYPE, 0);
  description.compiler_available =
      device_number<cl_bool>(driver, device, CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE) != CL_FALSE;
  CLBIN_TRY_ASSIGN(description.identity, clbin::opencl::query_identity(driver, device));
  return description;
}

BuildReply failed(std::string error) {
  BuildReply reply;
  reply.error = std::move(error);
  return reply;
}

} // namespace

Result<void> WorkerSession::open() {
  if (m_driver) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const Driver driver, clbin::opencl::open_icd_driver());
  CLBIN_TRY_ASSIGN(const auto ids, clbin::opencl::list_platforms(driver));
  std::vector<Platform> platforms;
  for (cl_platform_id id : ids) {
    CLBIN_TRY_ASSIGN(auto devices, clbin::opencl::list_devices(driver, id));
    platforms.push_back({id, std::move(devices)});
  }
  m_platforms = std::move(platforms);
  m_driver = driver;
  return {};
}

EnumerateReply WorkerSession::enumerate(const EnumerateRequest& request) {
  EnumerateReply reply;
  if (const auto opened = open(); !opened) {
    reply.error = opened.error().message;
    reply.no_opencl = opened.error().code == ErrorCode::no_opencl;
    return reply;
  }
  for (std::size_t p = 0; p < m_platforms.size(); ++p) {
    const Platform& platform = m_platforms[p];
    for (std::size_t d = 0; d < platform.devices.size(); ++d) {
      auto description = describe_device(*m_driver, platform.devices[d]);
      if (!description) {
        reply.error = fmt::format("device {}:{}: {}", p, d, description.error().message);
        return reply;
      }
      description->platform = static_cast<std::uint32_t>(p);
      description->device = static_cast<std::uint32_t>(d);
      description->driver_library = library_of(platform.id);
      if (request.with_properties) {
        description->properties = query_device_properties(*m_driver, platform.devices[d]);
      }
      reply.devices.push_back(std::move(*description));
    }
  }
  return reply;
}

Result<cl_device_id> WorkerSession::find_device(const BuildRequest& request) {
  CLBIN_TRY(open());
  if (request.platform >= m_platforms.size() ||
      request.device >= m_platforms[request.platform].devices.size()) {
    return fail(ErrorCode::no_device, "there is no device {}:{} any more", request.platform,
                request.device);
  }
  return m_platforms[request.platform].devices[request.device];
}

BuildReply WorkerSession::build(const BuildRequest& request) {
  const auto device = find_device(request);
  if (!device) {
    return failed(device.error().message);
  }
  const Driver& driver = *m_driver;
  cl_int code = CL_SUCCESS;
  const clbin::opencl::Context context(
      driver.CreateContext(nullptr, 1, &*device, nullptr, nullptr, &code), driver.ReleaseContext);
  if (!context || code != CL_SUCCESS) {
    return failed(fmt::format("clCreateContext failed: {}", clbin::opencl::cl_error_name(code)));
  }
  std::string options = request.options;
  options += options.empty() ? "-cl-kernel-arg-info" : " -cl-kernel-arg-info";
  auto outcome =
      clbin::opencl::build_from_source(driver, context.get(), {*device}, request.source, options);
  BuildReply reply;
  reply.cl_code = outcome.code;
  reply.stage = std::move(outcome.stage);
  reply.log = std::move(outcome.log);
  if (outcome.code != CL_SUCCESS) {
    return reply;
  }
  // Before the reflection, which makes kernels: the binary is to hold what the build made.
  auto binary = clbin::opencl::program_binary(driver, outcome.program.get());
  if (!binary) {
    reply.error = binary.error().message;
    return reply;
  }
  auto kernels = clbin::opencl::reflect_kernels(driver, outcome.program.get(), *device);
  if (!kernels) {
    reply.error = kernels.error().message;
    return reply;
  }
  reply.binary = std::move(*binary);
  reply.kernels = std::move(*kernels);
  return reply;
}

} // namespace oclcc::worker
