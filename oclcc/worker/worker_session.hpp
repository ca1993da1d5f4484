// What a worker remembers between requests: the drivers and their devices.
#pragma once

#include "opencl/driver.hpp"
#include "worker/worker_protocol.hpp"

#include <optional>
#include <vector>

namespace oclcc::worker {

class WorkerSession {
public:
  [[nodiscard]] EnumerateReply enumerate(const EnumerateRequest& request);
  // Each unit has a context of its own: PoCL's compiler state belongs to a context, and must not
  // carry anything from one unit to the next.
  [[nodiscard]] BuildReply build(const BuildRequest& request);

private:
  struct Platform {
    cl_platform_id id = nullptr;
    std::vector<cl_device_id> devices;
  };
  [[nodiscard]] clbin::base::Result<void> open();
  [[nodiscard]] clbin::base::Result<cl_device_id> find_device(const BuildRequest& request);

  std::optional<clbin::opencl::Driver> m_driver;
  std::vector<Platform> m_platforms;
};

} // namespace oclcc::worker
