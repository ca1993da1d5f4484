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

Result<void> KernelLauncher::set_buffers(std::span<const LaunchArgument> arguments,
                                         std::vector<base::Bytes> data) {
  if (std::ranges::equal(m_arguments, arguments)) {
    return {};
  }
  m_arguments.clear();
  m_buffers.clear();
  m_samplers.clear();
  auto next_data = data.begin();
  for (const LaunchArgument& argument : arguments) {
    if (argument.kind == ArgumentKind::sampler) {
      CLBIN_TRY(create_sampler(argument));
    }
    if (!format::is_memory(argument) || argument.count == 0) {
      continue;
    }
    const bool is_stored = argument.fill == format::Fill::stored;
    if (is_stored && (next_data == data.end() ||
                      next_data->size() != argument.count * element_bytes(argument.type))) {
      return base::fail(base::ErrorCode::invalid_argument, "a stored argument has no data");
    }
    CLBIN_TRY(create_buffer(argument,
                            is_stored ? std::move(*next_data++) : format::fill_buffer(argument)));
  }
  m_arguments.assign(arguments.begin(), arguments.end());
  return {};
}

Result<void> KernelLauncher::create_buffer(const LaunchArgument& argument, base::Bytes contents) {
  Buffer& buffer = m_buffers.emplace_back();
  buffer.contents = std::move(contents);
  buffer.is_result = format::is_result(argument);
  if (argument.kind == ArgumentKind::image) {
    CLBIN_TRY(create_image(argument, buffer));
    return write(buffer);
  }
  cl_int code = CL_SUCCESS;
  buffer.memory = Memory(
      m_driver->CreateBuffer(m_context, CL_MEM_READ_WRITE, buffer.contents.size(), nullptr, &code),
      m_driver->ReleaseMemObject);
  CLBIN_TRY(check(code, "clCreateBuffer"));
  return write(buffer);
}

Result<void> KernelLauncher::create_image(const LaunchArgument& argument, Buffer& image) {
  if (m_driver->CreateImage == nullptr || m_driver->EnqueueReadImage == nullptr ||
      m_driver->EnqueueWriteImage == nullptr) {
    return base::fail(base::ErrorCode::no_opencl,
                      "the OpenCL library has no function 'clCreateImage'");
  }
  const auto& properties = argument.properties;
  cl_image_format format{static_cast<cl_channel_order>(properties[1]),
                         static_cast<cl_channel_type>(properties[2])};
  cl_image_desc description{};
  description.image_type = static_cast<cl_mem_object_type>(properties[0]);
  description.image_width = properties[3];
  description.image_height = properties[4];
  description.image_depth = properties[5];
  description.image_array_size = properties[6];
  const auto layout = format::image_layout(properties); // known of an answer that breaks no rule
  std::ranges::copy(layout->region, image.region.begin());
  // Drivers have fewer formats for images that kernels both read and write.
  const cl_mem_flags access = image.is_result ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
  cl_int code = CL_SUCCESS;
  for (const cl_mem_flags flags : {cl_mem_flags{CL_MEM_READ_WRITE}, access}) {
    image.memory =
        Memory(m_driver->CreateImage(m_context, flags, &format, &description, nullptr, &code),
               m_driver->ReleaseMemObject);
    if (code == CL_SUCCESS) {
      break;
    }
  }
  return check(code, "clCreateImage");
}

Result<void> KernelLauncher::create_sampler(const LaunchArgument& argument) {
  if (m_driver->CreateSampler == nullptr || m_driver->ReleaseSampler == nullptr) {
    return base::fail(base::ErrorCode::no_opencl,
                      "the OpenCL library has no function 'clCreateSampler'");
  }
  const auto& properties = argument.properties;
  cl_int code = CL_SUCCESS;
  m_samplers.emplace_back(
      m_driver->CreateSampler(m_context, properties[0] != 0 ? CL_TRUE : CL_FALSE,
                              static_cast<cl_addressing_mode>(properties[1]),
                              static_cast<cl_filter_mode>(properties[2]), &code),
      m_driver->ReleaseSampler);
  return check(code, "clCreateSampler");
}

Result<void> KernelLauncher::write(const Buffer& buffer) const {
  if (buffer.region[0] != 0) {
    const std::array<std::size_t, 3> origin{};
    return check(m_driver->EnqueueWriteImage(m_queue.get(), buffer.memory.get(), CL_TRUE,
                                             origin.data(), buffer.region.data(), 0, 0,
                                             buffer.contents.data(), 0, nullptr, nullptr),
                 "clEnqueueWriteImage");
  }
  return check(m_driver->EnqueueWriteBuffer(m_queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                            buffer.contents.size(), buffer.contents.data(), 0,
                                            nullptr, nullptr),
               "clEnqueueWriteBuffer");
}

Result<void> KernelLauncher::read(const Buffer& buffer, base::Bytes& bytes) const {
  if (buffer.region[0] != 0) {
    const std::array<std::size_t, 3> origin{};
    return check(m_driver->EnqueueReadImage(m_queue.get(), buffer.memory.get(), CL_TRUE,
                                            origin.data(), buffer.region.data(), 0, 0, bytes.data(),
                                            0, nullptr, nullptr),
                 "clEnqueueReadImage");
  }
  return check(m_driver->EnqueueReadBuffer(m_queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                           bytes.size(), bytes.data(), 0, nullptr, nullptr),
               "clEnqueueReadBuffer");
}

Result<void> KernelLauncher::set_argument(cl_kernel kernel, std::size_t index, std::size_t size,
                                          const void* value) const {
  const cl_int code = m_driver->SetKernelArg(kernel, static_cast<cl_uint>(index), size, value);
  return code == CL_SUCCESS ? Result<void>()
                            : call_failed("clSetKernelArg", fmt::format("{}", index), code);
}

Result<void> KernelLauncher::set_arguments(cl_kernel kernel) const {
  auto next_buffer = m_buffers.begin();
  auto next_sampler = m_samplers.begin();
  for (std::size_t i = 0; i < m_arguments.size(); ++i) {
    const LaunchArgument& argument = m_arguments[i];
    if (argument.kind == ArgumentKind::sampler) {
      const cl_sampler sampler = (next_sampler++)->get();
      // NOLINTNEXTLINE(bugprone-sizeof-expression): the handle is the value
      CLBIN_TRY(set_argument(kernel, i, sizeof sampler, static_cast<const void*>(&sampler)));
    } else if (format::is_memory(argument)) {
      const cl_mem memory = argument.count == 0 ? nullptr : (next_buffer++)->memory.get();
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
    CLBIN_TRY(read(buffer, bytes));
  }
  return results;
}

} // namespace clbin::opencl
