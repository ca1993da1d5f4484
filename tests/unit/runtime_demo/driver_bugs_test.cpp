// Shows with direct calls the driver bugs for which the demo expects a failure.
#include "devices.hpp"
#include "opencl_functions.hpp"

#include <array>
#include <gtest/gtest.h>
#include <optional>

namespace runtime_demo {
namespace {

// Counts in one loop of one work-item. The steps come from memory, so no compiler can replace
// the loop with its result.
constexpr const char* k_counting_kernel =
    "__kernel void count(__global int* result, __global const int* steps, int rounds) {\n"
    "  int done = 0;\n"
    "  for (int i = 0; i < rounds; ++i) {\n"
    "    done += steps[i % 7];\n"
    "  }\n"
    "  result[0] = done;\n"
    "}\n";

template <class Function>
Function function_of(const OpenclLibrary& library, const char* name) {
  return reinterpret_cast<Function>(library.resolve(name));
}

class CountingDevice {
public:
  CountingDevice(const OpenclLibrary& library, const Device& device)
      : m_opencl(library.functions()), m_device(device.id) {
    m_context = {m_opencl.create_context(nullptr, 1, &m_device, nullptr, nullptr, nullptr),
                 m_opencl.release_context};
    m_queue = {m_opencl.create_command_queue(m_context.get(), m_device, 0, nullptr),
               m_opencl.release_command_queue};
    const auto create =
        function_of<decltype(&clCreateProgramWithSource)>(library, "clCreateProgramWithSource");
    const auto build = function_of<decltype(&clBuildProgram)>(library, "clBuildProgram");
    const char* source = k_counting_kernel;
    m_program = {create(m_context.get(), 1, &source, nullptr, nullptr), m_opencl.release_program};
    build(m_program.get(), 1, &m_device, "", nullptr, nullptr);
    m_kernel = {m_opencl.create_kernel(m_program.get(), "count", nullptr), m_opencl.release_kernel};
  }

  // Returns the count of a loop with this many rounds, or std::nullopt if a call fails.
  [[nodiscard]] std::optional<cl_int> count(cl_int rounds) {
    const std::array<cl_int, 7> steps{1, 1, 1, 1, 1, 1, 1};
    const Owned<cl_mem> result = buffer(sizeof(cl_int));
    const Owned<cl_mem> step_buffer = buffer(sizeof(steps));
    cl_mem handle = result.get();
    m_opencl.set_kernel_arg(m_kernel.get(), 0, sizeof(handle), &handle);
    handle = step_buffer.get();
    m_opencl.set_kernel_arg(m_kernel.get(), 1, sizeof(handle), &handle);
    m_opencl.set_kernel_arg(m_kernel.get(), 2, sizeof(rounds), &rounds);
    m_opencl.enqueue_write_buffer(m_queue.get(), step_buffer.get(), CL_TRUE, 0, sizeof(steps),
                                  steps.data(), 0, nullptr, nullptr);
    const std::size_t one = 1;
    cl_int counted = -1;
    const cl_int launched = m_opencl.enqueue_nd_range_kernel(
        m_queue.get(), m_kernel.get(), 1, nullptr, &one, &one, 0, nullptr, nullptr);
    const cl_int read = m_opencl.enqueue_read_buffer(
        m_queue.get(), result.get(), CL_TRUE, 0, sizeof(counted), &counted, 0, nullptr, nullptr);
    return launched == CL_SUCCESS && read == CL_SUCCESS ? std::optional(counted) : std::nullopt;
  }

private:
  [[nodiscard]] Owned<cl_mem> buffer(std::size_t bytes) const {
    return {m_opencl.create_buffer(m_context.get(), CL_MEM_READ_WRITE, bytes, nullptr, nullptr),
            m_opencl.release_mem_object};
  }

  OpenclFunctions m_opencl;
  cl_device_id m_device;
  Owned<cl_context> m_context{nullptr, nullptr};
  Owned<cl_command_queue> m_queue{nullptr, nullptr};
  Owned<cl_program> m_program{nullptr, nullptr};
  Owned<cl_kernel> m_kernel{nullptr, nullptr};
};

TEST(DriverBugs, OnlyLlvmpipeEndsLongLoopsEarly) {
  const Result<OpenclLibrary> library = OpenclLibrary::open();
  if (!library) {
    GTEST_SKIP() << library.error().message;
  }
  const Result<std::vector<Device>> devices = find_devices(library->functions());
  if (!devices) {
    GTEST_SKIP() << devices.error().message;
  }
  for (const Device& device : *devices) {
    SCOPED_TRACE(device.platform + " / " + device.name);
    CountingDevice counting(*library, device);
    EXPECT_EQ(counting.count(60'000), 60'000);
    if (device.limits_loops) {
      EXPECT_EQ(counting.count(70'000), 65'535) << "Mesa no longer cuts loops: expect no failures";
    } else {
      EXPECT_EQ(counting.count(70'000), 70'000);
    }
  }
}

} // namespace
} // namespace runtime_demo
