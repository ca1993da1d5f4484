// Launches with their data, of an application that `oclcc --record --record-data` runs. A launch is
// left out, with a line that says why, if it cannot be repeated from what its arguments tell.
#include "format/bundle/measurements.hpp"
#include "layer/queries.hpp"
#include "layer/recorder.hpp"
#include "opencl/program_build.hpp"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace clbin::layer {
namespace {

using base::ErrorCode;
using format::ArgumentKind;
using format::ElementType;
using format::KernelArgument;
using format::LaunchArgument;

// Different sizes of each kernel.
constexpr std::size_t k_most_launches = 4;
// The application may wait with another thread, or complete an event only after the launch.
constexpr std::chrono::seconds k_longest_wait(10);

template <typename... Arguments>
auto left_out(fmt::format_string<Arguments...> reason, Arguments&&... arguments) {
  return base::fail(ErrorCode::invalid_argument, reason, std::forward<Arguments>(arguments)...);
}

// The memory of an argument.
struct Memory {
  cl_mem handle = nullptr;
  std::size_t argument = 0;
  std::array<std::size_t, 3> region{}; // of an image; 0 for a buffer
  cl_mem root = nullptr;               // of a sub-buffer; otherwise, the handle
  std::size_t offset = 0;              // in the root
  std::size_t bytes = 0;
};

// Zero if the query fails.
template <typename T>
T memory_value(const cl_icd_dispatch& next, cl_mem memory, cl_mem_info name) {
  return opencl::ask_value<T>(std::bind_front(next.clGetMemObjectInfo, memory, name)).value_or(T{});
}
template <typename T>
T image_value(const cl_icd_dispatch& next, cl_mem image, cl_image_info name) {
  return opencl::ask_value<T>(std::bind_front(next.clGetImageInfo, image, name)).value_or(T{});
}

std::vector<std::uint64_t> image_properties(const cl_icd_dispatch& next, cl_mem image,
                                            cl_mem_object_type type) {
  const auto format = image_value<cl_image_format>(next, image, CL_IMAGE_FORMAT);
  std::vector<std::uint64_t> properties{type, format.image_channel_order,
                                        format.image_channel_data_type};
  constexpr std::array<cl_image_info, 4> k_sizes{CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH,
                                                 CL_IMAGE_ARRAY_SIZE};
  for (const cl_image_info name : k_sizes) {
    properties.push_back(image_value<std::size_t>(next, image, name));
  }
  return properties;
}

// "float4*" has floats, if they fill the buffer; of what is not known, bytes are compared.
ElementType element_of(std::string_view type_name, std::size_t bytes) {
  const auto shape = format::shape_of(type_name.substr(0, type_name.find('*')));
  return shape && bytes % element_bytes(shape->type) == 0 ? shape->type : ElementType::u8;
}

bool overlap(const Memory& a, const Memory& b) {
  const bool is_image = a.region[0] != 0 || b.region[0] != 0;
  return a.root == b.root &&
         (is_image || (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes));
}

std::string sizes_of(const format::KnownAnswer& answer) {
  return fmt::format("{} {} {}", answer.dimensions, fmt::join(answer.global_size, " "),
                     fmt::join(answer.local_size, " "));
}

} // namespace

struct DataRecorder::Launch {
  RecordedNames names;
  format::KnownAnswer answer{};
  cl_command_queue queue = nullptr;
  std::vector<Memory> memories{};
  std::vector<base::Bytes> read{}; // of the last read_all, in the order of what was read
  std::map<std::string, base::KeptBytes> data{};

  [[nodiscard]] bool is_result(const Memory& memory) const {
    return format::is_result(answer.arguments[memory.argument]);
  }
  [[nodiscard]] std::string kernel() const {
    return fmt::format("{} {} {}", names.program, names.variant, answer.kernel);
  }
  // Keeps the bytes, and returns their digest.
  std::string keep(base::Bytes bytes) {
    std::string digest = base::to_hex(base::digest_of(bytes));
    data.try_emplace(digest, std::move(bytes));
    return digest;
  }
};

void DataRecorder::EndLaunch::operator()(Launch* launch) const noexcept {
  delete launch;
}

void DataRecorder::add_kernel(cl_kernel kernel, cl_kernel original) {
  const std::scoped_lock lock(m_mutex);
  m_arguments[kernel] = original == nullptr ? Arguments() : m_arguments[original];
}

void DataRecorder::set_argument(cl_kernel kernel, cl_uint index, std::size_t size,
                                const void* value) {
  Argument argument{value == nullptr ? Argument::Kind::local : Argument::Kind::value, size};
  if (value != nullptr) {
    const auto* const bytes = static_cast<const std::byte*>(value);
    argument.value.assign(bytes, bytes + size);
  }
  const std::scoped_lock lock(m_mutex);
  std::vector<Argument>& set = m_arguments[kernel].set;
  set.resize(std::max<std::size_t>(set.size(), std::size_t{index} + 1));
  set[index] = std::move(argument);
}

void DataRecorder::set_unknown_memory(cl_kernel kernel) {
  const std::scoped_lock lock(m_mutex);
  m_arguments[kernel].has_unknown_memory = true;
}

void DataRecorder::add_user_event(cl_event event) {
  const std::scoped_lock lock(m_mutex);
  m_user_events.insert(event);
}

void DataRecorder::end_user_event(cl_event event) {
  const std::scoped_lock lock(m_mutex);
  m_user_events.erase(event);
}

bool DataRecorder::claim(const std::string& kernel, const std::string& sizes) {
  const std::scoped_lock lock(m_mutex);
  std::set<std::string>& known = m_sizes[kernel];
  return known.size() < k_most_launches && known.insert(sizes).second;
}

void DataRecorder::omit(const Launch& launch, const std::string& reason) {
  const std::span global(launch.answer.global_size.data(), launch.answer.dimensions);
  m_recorder.record_omission(fmt::format("the data of kernel '{}' with {} work-items: {}",
                                         launch.answer.kernel, fmt::join(global, "x"), reason));
}

base::Result<void> DataRecorder::describe_sampler(const Argument& argument, Launch& launch) const {
  cl_sampler sampler = nullptr;
  if (argument.size != sizeof(sampler)) { // NOLINT(bugprone-sizeof-expression)
    return left_out("it is not a sampler");
  }
  std::memcpy(static_cast<void*>(&sampler), argument.value.data(), argument.size);
  const auto ask = [&]<typename T>(cl_sampler_info name, T /*type*/) {
    return std::uint64_t{
        opencl::ask_value<T>(std::bind_front(m_next.clGetSamplerInfo, sampler, name)).value_or(0)};
  };
  LaunchArgument& described = launch.answer.arguments.emplace_back();
  described.kind = ArgumentKind::sampler;
  described.properties = {ask(CL_SAMPLER_NORMALIZED_COORDS, cl_bool{}),
                          ask(CL_SAMPLER_ADDRESSING_MODE, cl_addressing_mode{}),
                          ask(CL_SAMPLER_FILTER_MODE, cl_filter_mode{})};
  return {};
}

base::Result<void> DataRecorder::describe_memory(const KernelArgument& known,
                                                 const Argument& argument, Launch& launch) const {
  Memory memory{nullptr, launch.answer.arguments.size()};
  if (argument.kind == Argument::Kind::value) {
    if (argument.size != sizeof(memory.handle)) { // NOLINT(bugprone-sizeof-expression)
      return left_out("it is not a buffer");
    }
    std::memcpy(static_cast<void*>(&memory.handle), argument.value.data(), argument.size);
  }
  LaunchArgument& described = launch.answer.arguments.emplace_back();
  described.kind = ArgumentKind::buffer;
  described.is_constant = known.is_const || known.address_space == format::AddressSpace::constant ||
                          known.access == format::AccessQualifier::read_only;
  if (memory.handle == nullptr) {
    described.is_constant = true;
    return {};
  }
  const auto type = memory_value<cl_mem_object_type>(m_next, memory.handle, CL_MEM_TYPE);
  memory.bytes = memory_value<std::size_t>(m_next, memory.handle, CL_MEM_SIZE);
  memory.offset = memory_value<std::size_t>(m_next, memory.handle, CL_MEM_OFFSET);
  const auto parent = memory_value<cl_mem>(m_next, memory.handle, CL_MEM_ASSOCIATED_MEMOBJECT);
  memory.root = parent == nullptr ? memory.handle : parent;
  described.fill = format::Fill::stored;
  if (type == CL_MEM_OBJECT_BUFFER) {
    described.type = element_of(known.type_name, memory.bytes);
    described.count = memory.bytes / element_bytes(described.type);
  } else {
    described.kind = ArgumentKind::image;
    described.properties = image_properties(m_next, memory.handle, type);
    const auto layout = format::image_layout(described.properties);
    if (!layout || image_value<cl_uint>(m_next, memory.handle, CL_IMAGE_NUM_MIP_LEVELS) > 1) {
      return left_out("an image of this kind or format cannot be recorded");
    }
    described.type = layout->type;
    described.count = layout->count;
    std::ranges::copy(layout->region, memory.region.begin());
    memory.bytes = layout->count * element_bytes(layout->type);
  }
  if (memory.bytes == 0 || memory.bytes > format::k_max_recorded_bytes) {
    return left_out("it has {} bytes", memory.bytes);
  }
  launch.memories.push_back(memory);
  return {};
}

base::Result<void> DataRecorder::describe_argument(const KernelArgument& known,
                                                   const Argument& argument, Launch& launch) const {
  if (argument.kind == Argument::Kind::unset) {
    return left_out("it was not set with clSetKernelArg");
  }
  if (known.is_pipe) {
    return left_out("a pipe cannot be recorded");
  }
  if (known.address_space == format::AddressSpace::local) {
    LaunchArgument& described = launch.answer.arguments.emplace_back();
    described.kind = ArgumentKind::local;
    described.count = argument.size;
    return {};
  }
  if (known.access != format::AccessQualifier::none ||
      known.address_space != format::AddressSpace::private_) {
    return describe_memory(known, argument, launch);
  }
  if (known.type_name == "sampler_t") {
    return describe_sampler(argument, launch);
  }
  launch.answer.arguments.emplace_back().number = argument.value;
  return {};
}

// Separate buffers would compute something else.
base::Result<void> DataRecorder::check_overlaps(const Launch& launch) const {
  for (std::size_t i = 0; i < launch.memories.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Memory& a = launch.memories[k];
      const Memory& b = launch.memories[i];
      if (overlap(a, b) && (launch.is_result(a) || launch.is_result(b))) {
        return left_out("its arguments {} and {} are the same memory", a.argument, b.argument);
      }
    }
  }
  return {};
}

base::Result<void> DataRecorder::take_bytes(const Launch& launch) {
  std::uint64_t bytes = 0;
  for (const Memory& memory : launch.memories) {
    bytes += memory.bytes * (launch.is_result(memory) ? 2 : 1);
  }
  const std::scoped_lock lock(m_mutex);
  if (bytes > m_bytes_left) {
    return left_out("it has {} bytes before and after it, and {} of the limit are left", bytes,
                    m_bytes_left);
  }
  m_bytes_left -= bytes;
  return {};
}

// Builds the source again, in a program of its own, if the driver has kept nothing about the
// arguments: the option that makes drivers keep it would change what the application is told.
base::Result<std::vector<KernelArgument>> DataRecorder::arguments_of(const LaunchCall& call,
                                                                     const TrackedKernel& kernel) {
  const auto count = opencl::ask_value<cl_uint>(
      std::bind_front(m_next.clGetKernelInfo, call.kernel, cl_kernel_info{CL_KERNEL_NUM_ARGS}));
  if (auto known = opencl::reflect_arguments(m_driver, call.kernel, count.value_or(0))) {
    return *std::move(known);
  }
  const std::pair key(kernel.recorded->program, kernel.recorded->variant);
  const auto find = [&]() -> std::optional<std::vector<KernelArgument>> {
    const std::scoped_lock lock(m_mutex);
    const auto& kernels = m_reflected[key];
    const auto found = std::ranges::find(kernels, kernel.name, &format::KernelReflection::name);
    return found == kernels.end() ? std::nullopt : found->arguments;
  };
  auto found = find();
  if (!found && !kernel.program->text.empty()) {
    const cl_device_id device = queue_device(m_next, call.queue);
    const std::string options =
        opencl::build_options(m_driver, kernel.program->handle, device) + " -cl-kernel-arg-info";
    const auto built = opencl::build_from_strings(m_driver, kernel.program->context, {device},
                                                  {kernel.program->text}, options);
    if (built.code == CL_SUCCESS && built.program) {
      auto reflection = opencl::reflect_kernels(m_driver, built.program.get(), device);
      const std::scoped_lock lock(m_mutex);
      m_reflected[key] =
          reflection ? std::move(reflection->kernels) : std::vector<format::KernelReflection>();
    }
    found = find();
  }
  return found ? base::Result<std::vector<KernelArgument>>(*std::move(found))
               : left_out("the driver does not tell the arguments of the kernel");
}

base::Result<void> DataRecorder::describe(const LaunchCall& call, const TrackedKernel& kernel,
                                          Launch& launch) {
  Arguments arguments;
  {
    const std::scoped_lock lock(m_mutex);
    arguments = m_arguments[call.kernel];
    if (!m_user_events.empty()) {
      return left_out("the application has yet to complete an event");
    }
  }
  if (call.offset != nullptr && std::any_of(call.offset, call.offset + call.dimensions,
                                            [](std::size_t n) { return n != 0; })) {
    return left_out("it has a global offset");
  }
  if (arguments.has_unknown_memory) {
    return left_out("it uses shared virtual memory");
  }
  CLBIN_TRY_ASSIGN(const auto known, arguments_of(call, kernel));
  arguments.set.resize(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    CLBIN_TRY(base::in_context(describe_argument(known[i], arguments.set[i], launch),
                               fmt::format("argument {}", i)));
  }
  CLBIN_TRY(check_overlaps(launch));
  if (std::ranges::none_of(launch.answer.arguments, format::is_result)) {
    return left_out("it changes no buffer or image");
  }
  return take_bytes(launch);
}

// Waits without a blocking call, which would never return if the application completes an event
// only after its own call. Returns CL_SUCCESS, the error of a command, or CL_QUEUED after too long.
cl_int DataRecorder::wait_for(cl_command_queue queue, const std::vector<cl_event>& events) const {
  const auto end = std::chrono::steady_clock::now() + k_longest_wait;
  std::chrono::microseconds pause(20);
  constexpr std::chrono::microseconds k_longest_pause(2000);
  (void)m_next.clFlush(queue);
  for (const cl_event event : events) {
    for (;;) {
      const auto status = opencl::ask_value<cl_int>(std::bind_front(
          m_next.clGetEventInfo, event, cl_event_info{CL_EVENT_COMMAND_EXECUTION_STATUS}));
      if (!status || *status < 0) {
        return status ? *status : status.error();
      }
      if (*status == CL_COMPLETE) {
        break;
      }
      if (std::chrono::steady_clock::now() >= end) {
        return CL_QUEUED;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, k_longest_pause);
    }
  }
  return CL_SUCCESS;
}

base::Result<void> DataRecorder::read_all(Launch& launch, cl_uint wait_count,
                                          const cl_event* wait_list, bool only_results) {
  std::vector<Memory> memories;
  std::ranges::copy_if(launch.memories, std::back_inserter(memories), [&](const Memory& memory) {
    return !only_results || launch.is_result(memory);
  });
  // All memory first: an exception must not free what the driver writes to.
  std::vector<cl_event> events;
  events.reserve(memories.size());
  launch.read.clear();
  for (const Memory& memory : memories) {
    launch.read.emplace_back(memory.bytes);
  }
  cl_int code = CL_SUCCESS;
  for (std::size_t i = 0; i < memories.size() && code == CL_SUCCESS; ++i) {
    const Memory& memory = memories[i];
    base::Bytes& bytes = launch.read[i];
    const std::array<std::size_t, 3> origin{};
    cl_event event = nullptr;
    code = memory.region[0] == 0
               ? m_next.clEnqueueReadBuffer(launch.queue, memory.handle, CL_FALSE, 0, bytes.size(),
                                            bytes.data(), wait_count, wait_list, &event)
               : m_next.clEnqueueReadImage(launch.queue, memory.handle, CL_FALSE, origin.data(),
                                           memory.region.data(), 0, 0, bytes.data(), wait_count,
                                           wait_list, &event);
    if (code == CL_SUCCESS) {
      events.push_back(event);
    }
  }
  const cl_int waited = wait_for(launch.queue, events);
  for (const cl_event event : events) {
    (void)m_next.clReleaseEvent(event);
  }
  if (waited != CL_SUCCESS) {
    const std::scoped_lock lock(m_mutex);
    m_abandoned.push_back(std::exchange(launch.read, {}));
    m_bytes_left = 0; // the application would wait as long for each other launch
    return waited == CL_QUEUED
               ? left_out("its queue takes longer than {} seconds; nothing more is recorded",
                          k_longest_wait.count())
               : left_out("its data cannot be read: {}; nothing more is recorded",
                          opencl::cl_error_name(waited));
  }
  return code == CL_SUCCESS ? base::Result<void>()
                            : left_out("its data cannot be read: {}", opencl::cl_error_name(code));
}

DataRecorder::LaunchHandle DataRecorder::begin(const LaunchCall& call,
                                               const TrackedKernel& kernel) {
  if (call.dimensions < 1 || call.dimensions > 3 || call.global == nullptr) {
    return nullptr; // which the driver refuses
  }
  LaunchHandle launch(new Launch{*kernel.recorded});
  launch->queue = call.queue;
  format::KnownAnswer& answer = launch->answer;
  answer.variant = kernel.recorded->variant;
  answer.kernel = kernel.name;
  answer.dimensions = call.dimensions;
  answer.global_size.fill(1);
  std::copy_n(call.global, call.dimensions, answer.global_size.begin());
  if (call.local != nullptr) {
    answer.local_size.fill(1);
    std::copy_n(call.local, call.dimensions, answer.local_size.begin());
  }
  if (!claim(launch->kernel(), sizes_of(answer))) {
    return nullptr;
  }
  base::Result<void> read = describe(call, kernel, *launch);
  read = read ? read_all(*launch, call.wait_count, call.wait_list, false) : read;
  if (!read) {
    omit(*launch, read.error().message);
    return nullptr;
  }
  for (std::size_t i = 0; i < launch->memories.size(); ++i) {
    answer.arguments[launch->memories[i].argument].digest =
        launch->keep(std::move(launch->read[i]));
  }
  return launch;
}

void DataRecorder::end(LaunchHandle launch, cl_event event) {
  if (const auto read = read_all(*launch, 1, &event, true); !read) {
    return omit(*launch, read.error().message);
  }
  format::KnownAnswer& answer = launch->answer;
  auto bytes = launch->read.begin();
  for (const Memory& memory : launch->memories) {
    if (launch->is_result(memory)) {
      format::ExpectedBuffer& result = answer.results.emplace_back();
      result.argument = static_cast<std::uint32_t>(memory.argument);
      result.digest = launch->keep(std::move(*bytes++));
    }
  }
  if (const auto identity = opencl::query_identity(m_driver, queue_device(m_next, launch->queue))) {
    answer.device = fmt::format("{} / {} / {}", identity->platform_name, identity->device_name,
                                identity->driver_version);
  }
  if (const std::string_view broken = broken_rule(answer); !broken.empty()) {
    return omit(*launch, std::string(broken));
  }
  RecordedBuild build;
  build.kernel = fmt::format(" (data of kernel '{}')", answer.kernel);
  build.program.name = launch->names.program;
  build.program.variants.push_back({launch->names.variant, launch->names.options});
  build.program.answers.push_back(std::move(answer));
  build.program.data = std::move(launch->data);
  m_recorder.record(std::move(build));
}

} // namespace clbin::layer
