// The devices of this machine, found by workers that go on as compilers.
#pragma once

#include "worker/worker_process.hpp"

#include <optional>
#include <vector>

namespace oclcc::worker {

enum class PropertyQuery : std::uint8_t { skip, ask };

struct EnumeratedWorker {
  WorkerProcess process;
  std::vector<DeviceDescription> devices; // at the worker's own numbers
  // Among the numbers of InstalledDevices, where the worker does not see every driver.
  std::optional<std::uint32_t> first_platform;
};

struct InstalledDevices {
  std::vector<EnumeratedWorker> workers;  // at least one
  std::vector<DeviceDescription> devices; // at least one
  // Drivers that could not list their devices: "'libpocl.so.2' is left out: asked for its devices,
  // it crashed (signal 6)".
  std::vector<std::string> failures;
  std::string driver_output;
  std::string load_failures; // EnumerateReply::load_failures
};

// One worker asks all drivers; where it is lost or refused, each driver is asked by a worker of its
// own, so that one that crashes or hangs costs its own devices only. no_opencl: no ICD loader.
// no_device: no driver, or none with a device, and what to install; also when every driver that has
// devices crashed or hung. internal, file_write: no worker could be started.
[[nodiscard]] clbin::base::Result<InstalledDevices>
find_installed_devices(const WorkerSettings& settings, PropertyQuery properties);

} // namespace oclcc::worker
