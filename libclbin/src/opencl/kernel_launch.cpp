#include "opencl/kernel_launch.hpp"

#include "format/bundle/known_answers.hpp"
#include "opencl/device_query.hpp"

#include <algorithm>
#include <chrono>

namespace clbin::opencl {

using format::ArgumentKind;
using format::LaunchArgument;

namespace {

using Clock = std::chrono::steady_clock;
using Event = Handle<cl_event>;

Result<void> check(cl_int code, std::string_view function) {
  return code == CL_SUCCESS ? Result<void>() : call_failed(function, {}, code);
}

} // namespace

Result<KernelLauncher> KernelLauncher::create(const Driver& driver, cl_context context,
                                              cl_device_id device) {
  CLBIN_TRY(require_launches(driver));
  KernelLauncher launcher(driver, context);
  cl_int code = CL_SUCCESS;
  launcher.m_queue = Handle<cl_command_queue>(
      driver.CreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code),
      driver.ReleaseCommandQueue);
  CLBIN_TRY(check(code, "clCreateCommandQueue"));
  return launcher;
}

Result<void> KernelLauncher::set_buffers(std::span<const LaunchArgument> arguments) {
  if (std::ranges::equal(m_arguments, arguments)) {
    return {};
  }
  m_arguments.clear();
  m_buffers.clear();
  for (const LaunchArgument& argument : arguments) {
    if (argument.kind != ArgumentKind::buffer) {
      continue;
    }
    Buffer& buffer = m_buffers.emplace_back();
    buffer.contents = format::fill_buffer(argument);
    buffer.is_result = format::is_result(argument);
    cl_int code = CL_SUCCESS;
    buffer.memory = Memory(m_driver->CreateBuffer(m_context, CL_MEM_READ_WRITE,
                                                  buffer.contents.size(), nullptr, &code),
                           m_driver->ReleaseMemObject);
    CLBIN_TRY(check(code, "clCreateBuffer"));
    CLBIN_TRY(write(buffer));
  }
  m_arguments.assign(arguments.begin(), arguments.end());
  return {};
}

Result<void> KernelLauncher::write(const Buffer& buffer) const {
  return check(m_driver->EnqueueWriteBuffer(m_queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                            buffer.contents.size(), buffer.contents.data(), 0,
                                            nullptr, nullptr),
               "clEnqueueWriteBuffer");
}

Result<void> KernelLauncher::set_argument(cl_kernel kernel, std::size_t index, std::size_t size,
                                          const void* value) const {
  const cl_int code = m_driver->SetKernelArg(kernel, static_cast<cl_uint>(index), size, value);
  return code == CL_SUCCESS ? Result<void>()
                            : call_failed("clSetKernelArg", fmt::format("{}", index), code);
}

Result<void> KernelLauncher::set_arguments(cl_kernel kernel) const {
  auto next_buffer = m_buffers.begin();
  for (std::size_t i = 0; i < m_arguments.size(); ++i) {
    const LaunchArgument& argument = m_arguments[i];
    if (argument.kind == ArgumentKind::buffer) {
      const cl_mem memory = (next_buffer++)->memory.get();
      // NOLINTNEXTLINE(bugprone-sizeof-expression): the handle is the value
      CLBIN_TRY(set_argument(kernel, i, sizeof memory, static_cast<const void*>(&memory)));
    } else if (argument.kind == ArgumentKind::local) {
      CLBIN_TRY(set_argument(kernel, i, argument.count, nullptr));
    } else {
      CLBIN_TRY(set_argument(kernel, i, argument.number.size(), argument.number.data()));
    }
  }
  return {};
}

std::uint64_t KernelLauncher::profiled_ns(cl_event event) const {
  const auto ask = [&](cl_profiling_info name) {
    return ask_value<cl_ulong>(std::bind_front(m_driver->GetEventProfilingInfo, event, name));
  };
  const auto begin = ask(CL_PROFILING_COMMAND_START);
  const auto end = ask(CL_PROFILING_COMMAND_END);
  return begin && end && *end > *begin ? *end - *begin : 0;
}

Result<LaunchTime> KernelLauncher::launch(cl_kernel kernel, const LaunchSizes& sizes) const {
  for (const Buffer& buffer : m_buffers) {
    CLBIN_TRY(buffer.is_result ? write(buffer) : Result<void>());
  }
  std::array<std::size_t, 3> global{};
  std::array<std::size_t, 3> local{};
  std::ranges::copy(sizes.global, global.begin());
  std::ranges::copy(sizes.local, local.begin());
  cl_event started = nullptr;
  const auto before = Clock::now();
  CLBIN_TRY(check(m_driver->EnqueueNDRangeKernel(
                      m_queue.get(), kernel, sizes.dimensions, nullptr, global.data(),
                      local[0] == 0 ? nullptr : local.data(), 0, nullptr, &started),
                  "clEnqueueNDRangeKernel"));
  const Event event(started, m_driver->ReleaseEvent);
  CLBIN_TRY(check(m_driver->Finish(m_queue.get()), "clFinish"));
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - before);
  CLBIN_TRY(check(m_driver->WaitForEvents(1, &started), "clWaitForEvents"));
  const auto status = ask_value<cl_int>(
      std::bind_front(m_driver->GetEventInfo, started, CL_EVENT_COMMAND_EXECUTION_STATUS));
  if (status && *status < 0) {
    return call_failed("the launch", {}, *status);
  }
  return LaunchTime{static_cast<std::uint64_t>(elapsed.count()), profiled_ns(started)};
}

Result<std::vector<base::Bytes>> KernelLauncher::read_results() const {
  std::vector<base::Bytes> results;
  for (const Buffer& buffer : m_buffers) {
    if (!buffer.is_result) {
      continue;
    }
    base::Bytes& bytes = results.emplace_back(buffer.contents.size());
    CLBIN_TRY(check(m_driver->EnqueueReadBuffer(m_queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                                bytes.size(), bytes.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer"));
  }
  return results;
}

} // namespace clbin::opencl
