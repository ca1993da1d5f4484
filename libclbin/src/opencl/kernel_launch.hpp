// Launches kernels with arguments that are described, for known answers and for oclcc --tune.
#pragma once

#include "model/measurement.hpp"
#include "opencl/driver.hpp"

#include <span>

namespace clbin::opencl {

struct LaunchTime {
  std::uint64_t host_ns = 0;   // from the call until the launch was finished
  std::uint64_t device_ns = 0; // by event profiling; 0 if the driver has none
};
CLBIN_VISIT(LaunchTime, host_ns, device_ns);

// The work-items of a launch, as in format::KnownAnswer.
struct LaunchSizes {
  std::uint32_t dimensions = 0;
  format::GroupSize global{};
  format::GroupSize local{}; // all 0: the driver chooses
};

// A queue and buffers on one device. Driver, context and device must outlive it. Not thread-safe.
// Every error is opencl_call, and its FailedCall names the function.
class KernelLauncher {
public:
  // Also no_opencl: see require_launches.
  [[nodiscard]] static Result<KernelLauncher> create(const Driver& driver, cl_context context,
                                                     cl_device_id device);

  // Creates the buffers, images and samplers, and fills them. `data` are those of stored arguments,
  // in their order, and as long as these; moved from. Keeps what it has if the arguments are the
  // same. Also no_opencl: images need functions that a table for launches lacks.
  [[nodiscard]] Result<void> set_buffers(std::span<const format::LaunchArgument> arguments,
                                         std::vector<base::Bytes> data = {});
  // Of the arguments of set_buffers.
  [[nodiscard]] Result<void> set_arguments(cl_kernel kernel) const;
  // Fills the buffers that a launch can change, launches, and waits for the end. If the launch
  // itself fails, FailedCall names "the launch".
  [[nodiscard]] Result<LaunchTime> launch(cl_kernel kernel, const LaunchSizes& sizes) const;
  // Returns the contents of the buffers that a launch can change, in the order of the arguments.
  [[nodiscard]] Result<std::vector<base::Bytes>> read_results() const;

private:
  using Memory = Handle<cl_mem>;
  struct Buffer {
    Memory memory;
    base::Bytes contents; // before each launch
    bool is_result = false;
    std::array<std::size_t, 3> region{}; // of an image; 0 for a buffer
  };

  KernelLauncher(const Driver& driver, cl_context context)
      : m_driver(&driver), m_context(context) {}
  [[nodiscard]] Result<void> create_buffer(const format::LaunchArgument& argument,
                                           base::Bytes contents);
  [[nodiscard]] Result<void> create_image(const format::LaunchArgument& argument, Buffer& image);
  [[nodiscard]] Result<void> create_sampler(const format::LaunchArgument& argument);
  [[nodiscard]] Result<void> write(const Buffer& buffer) const;
  [[nodiscard]] Result<void> read(const Buffer& buffer, base::Bytes& bytes) const;
  [[nodiscard]] Result<void> set_argument(cl_kernel kernel, std::size_t index, std::size_t size,
                                          const void* value) const;
  [[nodiscard]] std::uint64_t profiled_ns(cl_event event) const;

  const Driver* m_driver;
  cl_context m_context;
  Handle<cl_command_queue> m_queue;
  std::vector<format::LaunchArgument> m_arguments; // of m_buffers
  std::vector<Buffer> m_buffers;                   // and images; without those that are NULL
  std::vector<Handle<cl_sampler>> m_samplers;
};

} // namespace clbin::opencl
