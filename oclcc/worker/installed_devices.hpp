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

// Starts workers that see the driver of one device alone, and another one after a failure.
class DeviceWorker {
public:
  // `device` must outlive this object.
  DeviceWorker(WorkerSettings settings, const DeviceDescription& device)
      : m_settings(std::move(settings)), m_device(device) {}

  // Sets the numbers of the device in a request for its worker. Returns the worker, which is valid
  // until the next call. no_device: the device is no longer there. Errors of WorkerProcess.
  [[nodiscard]] clbin::base::Result<WorkerProcess*> worker_for(auto& request) {
    if (auto started = start(); !started) {
      return tl::unexpected(std::move(started.error()));
    }
    request.platform = m_platform;
    request.device = m_number;
    return &*m_worker;
  }
  [[nodiscard]] const std::string& name() const noexcept { return m_device.identity.device_name; }

private:
  [[nodiscard]] clbin::base::Result<void> start();
  [[nodiscard]] clbin::base::Result<bool> start_with(std::string only_driver);

  WorkerSettings m_settings;
  const DeviceDescription& m_device;
  std::optional<WorkerProcess> m_worker;
  std::uint32_t m_platform = 0; // in the worker's numbers
  std::uint32_t m_number = 0;
};

} // namespace oclcc::worker
