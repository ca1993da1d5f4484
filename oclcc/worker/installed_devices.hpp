// Finds the drivers and devices of this machine, in workers that then compile.
#pragma once

#include "opencl/driver.hpp"
#include "worker/worker_process.hpp"

namespace oclcc::worker {

// Returns the platform libraries in the order of their .icd file names, without duplicates: a path
// or a name for dlopen. Reads the files that ocl-icd reads (libOpenCL(7)): OCL_ICD_VENDORS as a
// directory, an .icd file or a library, otherwise OPENCL_VENDOR_PATH, otherwise
// /etc/OpenCL/vendors. Skips unreadable files, as the loader does.
[[nodiscard]] std::vector<std::string> installed_driver_libraries();

// Returns "cannot load 'libpocl.so.2': …; …" for the libraries that the dynamic loader rejects;
// empty if there are none. Loads the drivers: call it in worker processes only.
[[nodiscard]] std::string load_failures(const std::vector<std::string>& libraries);

// Returns labels and values in the order of output. Omits properties that the device does not
// support.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
query_device_properties(const clbin::opencl::Driver& driver, cl_device_id device);

enum class PropertyQuery : std::uint8_t { skip, ask };

struct EnumeratedWorker {
  WorkerProcess process;
  std::vector<DeviceDescription> devices; // with the worker's numbers
  // In the numbers of InstalledDevices, if the worker does not see every driver.
  std::optional<std::uint32_t> first_platform;
};

struct InstalledDevices {
  std::vector<EnumeratedWorker> workers;  // at least one
  std::vector<DeviceDescription> devices; // at least one
  // Drivers that could not list their devices: "'libpocl.so.2' is skipped: while listing its
  // devices, it crashed (signal 6)".
  std::vector<std::string> failures;
  std::string driver_output;
  std::string load_failures; // EnumerateReply::load_failures
};

// Lists devices with one worker for all drivers. If that fails, starts one worker per driver, so
// that a driver that crashes or hangs affects only its own devices. no_opencl: there is no ICD
// loader. no_device: there is no driver, or none with a device (with advice), or every driver with
// devices crashed or hung. internal, file_write: no worker can be started.
[[nodiscard]] clbin::base::Result<InstalledDevices>
find_installed_devices(const WorkerSettings& settings, PropertyQuery properties);

} // namespace oclcc::worker
