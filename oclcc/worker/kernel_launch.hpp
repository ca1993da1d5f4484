// Launches kernels in the worker, for --tune, which times them, and for --verify --run.
#pragma once

#include "loader/load_program.hpp"
#include "worker/worker_protocol.hpp"

namespace oclcc::worker {

// Returns the bytes of a buffer before a launch. Integers of Fill::random are from 0 to 99, and
// other numbers in [0, 1): sums of them lose few digits, so that results can be compared. The same
// on every machine.
[[nodiscard]] base::Bytes fill_buffer(const LaunchArgument& argument);

// IEEE binary16, rounded to nearest, ties to even.
[[nodiscard]] std::uint16_t half_of(float number) noexcept;
[[nodiscard]] float float_of(std::uint16_t half) noexcept;

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
