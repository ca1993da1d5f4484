// Launches kernels in the worker, for --tune, which times them, and for --verify --run.
#pragma once

#include "loader/load_program.hpp"
#include "worker/worker_protocol.hpp"

namespace oclcc::worker {

// The context, programs and buffers of one device in a worker. Keeps them for the next launch.
class LaunchSession {
public:
  LaunchSession(const clbin::opencl::Driver& driver, cl_device_id device);
  ~LaunchSession();
  LaunchSession(LaunchSession&&) = delete; // and no copies

  // Errors are those of the reply.
  [[nodiscard]] LaunchReply run(const LaunchRequest& request);

private:
  struct State;
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::worker
