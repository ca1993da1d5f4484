// The devices of this machine, found by a worker that goes on as a compiler.
#pragma once

#include "worker/worker_process.hpp"

#include <vector>

namespace oclcc::worker {

enum class PropertyQuery : std::uint8_t { skip, ask };

struct InstalledDevices {
  WorkerProcess worker;
  std::vector<DeviceDescription> devices; // at least one
  std::string driver_output;
};

// no_opencl: no ICD loader. no_device: no driver, or none with a device, and what to install; also
// a driver that crashed or hung. internal, file_write: no worker could be started.
[[nodiscard]] clbin::base::Result<InstalledDevices>
find_installed_devices(const WorkerSettings& settings, PropertyQuery properties);

} // namespace oclcc::worker
