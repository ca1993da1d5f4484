#include "worker/installed_devices.hpp"

namespace oclcc::worker {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::chrono::seconds k_enumerate_timeout{60};

std::string with_driver_output(std::string message, WorkerProcess& worker) {
  std::string output = worker.take_output();
  while (output.ends_with('\n')) {
    output.pop_back();
  }
  return output.empty() ? message : fmt::format("{}; it printed: {}", message, output);
}

} // namespace

Result<InstalledDevices> find_installed_devices(const WorkerSettings& settings,
                                                PropertyQuery properties) {
  CLBIN_TRY_ASSIGN(WorkerProcess worker, WorkerProcess::start(settings));
  auto reply =
      worker.enumerate({.with_properties = properties == PropertyQuery::ask}, k_enumerate_timeout);
  if (!reply) {
    return fail(ErrorCode::no_device, "{}", with_driver_output(reply.error().message, worker));
  }
  if (reply->no_opencl) {
    return fail(ErrorCode::no_opencl, "{}", reply->error);
  }
  if (!reply->error.empty()) {
    return fail(ErrorCode::no_device, "{}", with_driver_output(reply->error, worker));
  }
  if (reply->devices.empty()) {
    return fail(ErrorCode::no_device, "{}",
                with_driver_output("no OpenCL device found; install a driver: your GPU "
                                   "vendor's, or pocl-opencl-icd for the CPU",
                                   worker));
  }
  std::string output = worker.take_output();
  return InstalledDevices{std::move(worker), std::move(reply->devices), std::move(output)};
}

} // namespace oclcc::worker
