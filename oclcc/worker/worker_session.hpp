// State of a worker between requests: the drivers and their devices.
#pragma once

#include "opencl/driver.hpp"
#include "worker/first_launch.hpp"
#include "worker/kernel_note.hpp"
#include "worker/unit_isolation.hpp"
#include "worker/worker_protocol.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace oclcc::worker {

class WorkerSession {
public:
  [[nodiscard]] EnumerateReply enumerate(const EnumerateRequest& request);
  // Returns the isolation for the request's device; `context` if there is no such device.
  [[nodiscard]] UnitIsolation isolation(const BuildRequest& request);
  // Returns the warm-up for the request's device.
  [[nodiscard]] WarmUp warm_up_for(const BuildRequest& request);
  // Builds a trivial program for the request's device and keeps it. Ignores failures: the first
  // unit then takes longer.
  void warm_up(const BuildRequest& request);
  // Creates a context for the unit.
  [[nodiscard]] BuildReply build(const BuildRequest& request);
  // Releases the objects of the last build, before the next build. On PoCL, this takes longer than
  // building a small kernel on other drivers.
  void release_unit() noexcept;

private:
  struct Device {
    cl_device_id id = nullptr;
    std::optional<clbin::format::DeviceIdentity> identity; // once asked for
  };
  struct Platform {
    cl_platform_id id = nullptr;
    std::vector<Device> devices;
  };
  [[nodiscard]] clbin::base::Result<void> open();
  // Asks the driver the first time only.
  [[nodiscard]] clbin::base::Result<clbin::format::DeviceIdentity> identity_of(Device& device);
  // With its identity.
  [[nodiscard]] clbin::base::Result<Device> find_device(const BuildRequest& request);
  [[nodiscard]] clbin::opencl::Program build_trivial_program(const Device& device) const;

  // Fills in the binary and the reflection of m_program.
  [[nodiscard]] clbin::base::Result<void> fill_reply(const BuildRequest& request,
                                                     cl_device_id device,
                                                     clbin::format::DeviceFamily family,
                                                     BuildReply& reply);
  [[nodiscard]] clbin::base::Result<void> reflect(const BuildRequest& request, cl_device_id device,
                                                  BuildReply& reply);
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes>
  binary_for_first_launch(cl_program program, cl_device_id device,
                          const std::vector<BinaryPass>& passes) const;

  std::filesystem::path m_folder = std::filesystem::current_path();
  KernelNote m_kernel_note;
  std::optional<clbin::opencl::Driver> m_driver;
  std::vector<Platform> m_platforms;
  clbin::opencl::Context m_warm_context;
  clbin::opencl::Program m_warm_program;
  clbin::opencl::Context m_context;
  clbin::opencl::Program m_program;
};

} // namespace oclcc::worker
