#include "measurement.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace runtime_demo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_most_launches = 10;
constexpr double k_least_credible = 1000; // a launch takes over 1/1000 of the host's wait
constexpr std::size_t k_simulator_size = 64;
constexpr std::size_t k_first_side = 32; // of the first product that affordable_size tries
// LP_MAX_TGSI_LOOP_ITERATIONS of Mesa's gallivm, which applies to all loops of a work-item together
// (tests/unit/runtime_demo/driver_bugs_test.cpp shows it).
constexpr double k_llvmpipe_loop_limit = 65535;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool is_vector_task(Task task) {
  return task == Task::dot_product || task == Task::multiply || task == Task::add;
}

std::size_t local_row_bytes(const Size& size) {
  constexpr std::size_t k_private_row = 1024; // PRIVATE_ROW of kernels/matmul_steps.cl
  return std::min(size.n, k_private_row) * sizeof(float);
}

Size limited_to(std::size_t side, const Size& size) {
  return {std::min(size.m, side), std::min(size.n, side), std::min(size.l, side)};
}

std::size_t longest_side(const Size& size) {
  return std::max({size.m, size.n, size.l});
}

double work_of(const Size& size) {
  return static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.l);
}

constexpr std::size_t k_local_block_bytes = std::size_t{16} * 16 * sizeof(float);

// Returns 0 if the driver does not support profiling.
double milliseconds_of(const OpenclFunctions& opencl, cl_event event) {
  cl_ulong begin = 0;
  cl_ulong end = 0;
  const cl_int begin_code = opencl.get_event_profiling_info(event, CL_PROFILING_COMMAND_START,
                                                            sizeof(begin), &begin, nullptr);
  const cl_int end_code =
      opencl.get_event_profiling_info(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr);
  const bool profiled = begin_code == CL_SUCCESS && end_code == CL_SUCCESS && end > begin;
  return profiled ? static_cast<double>(end - begin) / 1e6 : 0;
}

} // namespace

struct DeviceSession::Job {
  const KernelCase& kernel;
  const RunSettings& settings;
  const Workload& workload;
  Measurement& measurement;
  Owned<cl_kernel> function{nullptr, nullptr};
  std::size_t most_items = 0; // in a group, as reported by the driver
  cl_ulong local_bytes = 0;   // as reported by the driver
  LaunchShape shape{};
  std::size_t result_bytes = 0;
  Owned<cl_mem> result{nullptr, nullptr};
  Owned<cl_mem> left{nullptr, nullptr};
  Owned<cl_mem> right{nullptr, nullptr};
  Owned<cl_mem> sizes{nullptr, nullptr};
};

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Measurement::kernel_ms() const {
  return median(launches_ms);
}

double Measurement::mflops() const {
  const double milliseconds = kernel_ms();
  return milliseconds > 0 ? floating_point_operations(*kernel, size) / milliseconds / 1e3 : 0;
}

double Measurement::gigabytes_per_second() const {
  const double milliseconds = kernel_ms();
  return milliseconds > 0 ? bytes_moved(*kernel, size) / milliseconds / 1e6 : 0;
}

double Measurement::times_serial() const {
  const double milliseconds = kernel_ms();
  return milliseconds > 0 ? serial.seconds * 1e3 / milliseconds : 0;
}

Size default_size(const KernelCase& kernel, const Device& device, const RunLimits& limits) {
  const Size& size = kernel.source_size;
  if (is_vector_task(kernel.task)) {
    return size;
  }
  std::size_t side = longest_side(size);
  if (device.is_simulator) {
    side = k_simulator_size;
  } else if (device.kind == DeviceKind::cpu && size.l > 1) { // a transpose has no third side
    side = limits.product_side;
  }
  return limited_to(side, size);
}

std::optional<Size> larger_size(const Size& size, const Size& most, double milliseconds,
                                double limit_ms) {
  for (const std::size_t factor : {4U, 2U}) {
    const Size larger = limited_to(longest_side(size) * factor, most);
    if (larger != size && milliseconds * work_of(larger) / work_of(size) <= limit_ms) {
      return larger;
    }
  }
  return std::nullopt;
}

Result<void> check_fits(const KernelCase& kernel, const Size& size, const Device& device) {
  Result<void> checked = check_size(kernel, size);
  if (!checked) {
    return checked;
  }
  const std::size_t bytes = element_bytes(kernel.precision);
  const std::size_t left = left_elements(kernel, size) * operand_bytes(kernel.precision);
  const std::size_t right = right_elements(kernel, size) * operand_bytes(kernel.precision);
  // A dot product writes at least the sum of one group. Every other task writes all elements.
  const std::size_t result =
      kernel.task == Task::dot_product ? bytes : result_elements(kernel, size, {}) * bytes;
  const std::size_t largest = std::max({left, right, result});
  constexpr double k_mib = 1024.0 * 1024.0;
  if (largest > device.largest_buffer) {
    return failure(ExitCode::command_line,
                   fmt::format("size {} is too large for {} on {} '{}': a matrix needs {:.0f} MiB, "
                               "its largest buffer has {:.0f} MiB",
                               to_string(size), kernel.name, device.index, device.name,
                               static_cast<double>(largest) / k_mib,
                               static_cast<double>(device.largest_buffer) / k_mib));
  }
  const std::size_t total = left + right + result;
  if (total > device.global_memory) {
    return failure(ExitCode::command_line,
                   fmt::format("size {} is too large for {} on {} '{}': it needs {:.0f} MiB, the "
                               "device has {:.0f} MiB",
                               to_string(size), kernel.name, device.index, device.name,
                               static_cast<double>(total) / k_mib,
                               static_cast<double>(device.global_memory) / k_mib));
  }
  return {};
}

const Workload& WorkloadStore::get(const KernelCase& kernel, const Size& size) {
  std::unique_ptr<Workload>& stored = m_workloads[Key{kernel.task, kernel.precision, size}];
  if (!stored) {
    stored = std::make_unique<Workload>(make_workload(kernel, size, m_seed));
  }
  return *stored;
}

Result<DeviceSession> DeviceSession::open(const OpenclLibrary& library,
                                          const BundlePrograms& bundles, const Device& device) {
  DeviceSession session(library, bundles, device);
  const OpenclFunctions& opencl = library.functions();
  cl_int code = CL_SUCCESS;
  session.m_context = {opencl.create_context(nullptr, 1, &device.id, nullptr, nullptr, &code),
                       opencl.release_context};
  if (code != CL_SUCCESS) {
    return failure(ExitCode::no_device, describe_failure("clCreateContext", code));
  }
  session.m_queue = {opencl.create_command_queue(session.m_context.get(), device.id,
                                                 CL_QUEUE_PROFILING_ENABLE, &code),
                     opencl.release_command_queue};
  if (code != CL_SUCCESS) {
    return failure(ExitCode::no_device, describe_failure("clCreateCommandQueue", code));
  }
  return session;
}

std::string DeviceSession::take_log() {
  return std::exchange(m_log, std::string());
}

Measurement DeviceSession::measure(const KernelCase& kernel, const RunSettings& settings,
                                   WorkloadStore& workloads) {
  Measurement measurement;
  measurement.kernel = &kernel;
  measurement.device_index = m_device.index;
  measurement.platform = m_device.platform;
  measurement.device_name = m_device.name;
  measurement.size = settings.size ? *settings.size : affordable_size(kernel, settings, workloads);
  measurement.allowed_error = allowed_error(kernel, measurement.size);
  if (kernel.precision == Precision::double_precision && !m_device.has_double) {
    measurement.outcome = Outcome::skipped;
    measurement.reason = "no fp64";
    return measurement;
  }
  const Result<void> fits = check_fits(kernel, measurement.size, m_device);
  if (!fits) {
    measurement.reason = fits.error().message;
    return measurement;
  }
  const Workload& workload = workloads.get(kernel, measurement.size);
  measurement.serial = workload.serial;
  Job job{.kernel = kernel, .settings = settings, .workload = workload, .measurement = measurement};
  const Step<void> done = run(job);
  measurement.outcome = done ? Outcome::passed : done.error().outcome;
  measurement.reason = done ? std::string() : done.error().reason;
  return measurement;
}

// Launches small sizes before larger ones, because only a launch shows how slow a kernel is on a
// device. In a session of its own: its launches are not the first ones of the measured programs.
Size DeviceSession::affordable_size(const KernelCase& kernel, const RunSettings& settings,
                                    WorkloadStore& workloads) {
  const Size most = default_size(kernel, m_device, settings.limits);
  if (!settings.limits.launch_ms) {
    return most;
  }
  if (m_trials == nullptr) {
    Result<DeviceSession> session = open(*m_library, *m_bundles, m_device);
    if (!session) {
      return most; // measuring it fails with the same reason
    }
    m_trials = std::make_unique<DeviceSession>(std::move(*session));
  }
  RunSettings trial = settings;
  trial.repeat = 1;
  trial.source_comparison = SourceComparison::no_kernel;
  std::optional<Size> next = limited_to(k_first_side, most);
  while (next) {
    trial.size = next;
    const Measurement tried = m_trials->measure(kernel, trial, workloads);
    if (tried.outcome != Outcome::passed) {
      break;
    }
    next = larger_size(*next, most, tried.kernel_ms(), *settings.limits.launch_ms);
  }
  return *trial.size;
}

DeviceSession::Step<void> DeviceSession::run(Job& job) {
  const Step<FirstResult> first = first_result(job, job.settings.load_from);
  if (!first) {
    return tl::unexpected<Stop>(first.error());
  }
  job.measurement.first = *first;
  if (Step<void> timed = time_launches(job); !timed) {
    return timed;
  }
  const SourceComparison comparison = job.settings.source_comparison;
  const bool wanted =
      comparison == SourceComparison::all_kernels ||
      (comparison == SourceComparison::blog_kernels && job.kernel.series == Series::blog_2009);
  if (!wanted || job.settings.load_from == LoadFrom::source || first->origin == "source") {
    return {};
  }
  const Step<FirstResult> from_source = first_result(job, LoadFrom::source);
  if (!from_source) {
    return tl::unexpected<Stop>(from_source.error());
  }
  job.measurement.from_source = *from_source;
  return {};
}

DeviceSession::Step<const LoadedProgram*> DeviceSession::program_of(const KernelCase& kernel,
                                                                    LoadFrom from) {
  const auto key = std::make_tuple(kernel.program, kernel.variant, from);
  const auto known = m_programs.find(key);
  if (known != m_programs.end()) {
    return &known->second;
  }
  std::string report;
  Result<LoadedProgram> loaded =
      m_bundles->load(*m_library, m_context.get(), m_device.id, kernel, from, report);
  m_log += report;
  if (!loaded) {
    return tl::unexpected<Stop>(Stop{Outcome::failed, loaded.error().message});
  }
  return &m_programs.emplace(key, std::move(*loaded)).first->second;
}

// The creation of buffers, the queries of limits and the upload of operands are the same for every
// load, and are not timed.
DeviceSession::Step<FirstResult> DeviceSession::first_result(Job& job, LoadFrom from) {
  const Step<const LoadedProgram*> program = program_of(job.kernel, from);
  if (!program) {
    return tl::unexpected<Stop>(program.error());
  }
  Step<void> ready = create_kernel(job, **program);
  if (ready) {
    ready = choose_shape(job);
  }
  if (ready) {
    ready = create_buffers(job);
  }
  if (ready) {
    ready = set_arguments(job);
  }
  if (!ready) {
    return tl::unexpected<Stop>(ready.error());
  }
  bool timed_by_host = false;
  const Clock::time_point start = Clock::now();
  const Step<double> launched = launch(job, timed_by_host);
  const double elapsed = milliseconds_since(start);
  if (!launched) {
    return tl::unexpected<Stop>(launched.error());
  }
  if (const Step<void> right = check_result(job); !right) {
    return tl::unexpected<Stop>(right.error());
  }
  return FirstResult{(*program)->origin, (*program)->milliseconds, elapsed};
}

DeviceSession::Step<void> DeviceSession::create_kernel(Job& job, const LoadedProgram& program) {
  const OpenclFunctions& opencl = m_library->functions();
  cl_int code = CL_SUCCESS;
  job.function = {opencl.create_kernel(program.program.get(), job.kernel.function.c_str(), &code),
                  opencl.release_kernel};
  if (code == CL_INVALID_KERNEL_NAME) {
    return tl::unexpected<Stop>(Stop{
        Outcome::failed, fmt::format("program '{}' of {} has no kernel '{}'", job.kernel.program,
                                     m_bundles->names(), job.kernel.function)});
  }
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(Stop{Outcome::failed, describe_failure("clCreateKernel", code)});
  }
  return {};
}

// Returns which limit the kernel exceeds, as reported by the driver; empty if none.
std::string DeviceSession::exceeded_limit(const Job& job) const {
  const std::size_t items = job.shape.local[0] * job.shape.local[1];
  if (items > job.most_items) {
    return fmt::format("needs a work-group of {} items, the device allows {}", items,
                       job.most_items);
  }
  if (job.local_bytes > m_device.local_memory) {
    return fmt::format("needs {} bytes of local memory, the device has {}", job.local_bytes,
                       m_device.local_memory);
  }
  return {};
}

// Does not skip a kernel only because of the limits that the driver reports: rusticl 22.3 reports
// 32 items but runs 1024, and reports twice the local memory that a kernel uses.
DeviceSession::Step<void> DeviceSession::choose_shape(Job& job) {
  const OpenclFunctions& opencl = m_library->functions();
  const cl_int code =
      opencl.get_kernel_work_group_info(job.function.get(), m_device.id, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof(job.most_items), &job.most_items, nullptr);
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(
        Stop{Outcome::failed, describe_failure("clGetKernelWorkGroupInfo", code)});
  }
  const Size& size = job.measurement.size;
  Result<LaunchShape> shape = launch_shape(job.kernel, size, job.most_items);
  if (!shape && m_device.largest_group > job.most_items) {
    shape = launch_shape(job.kernel, size, m_device.largest_group);
  }
  if (!shape) {
    return tl::unexpected<Stop>(Stop{Outcome::skipped, shape.error().message});
  }
  job.shape = *shape;
  // The team of a matrix unit is larger on some devices.
  std::array<std::size_t, 3> required{};
  opencl.get_kernel_work_group_info(job.function.get(), m_device.id,
                                    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(required),
                                    required.data(), nullptr);
  if (job.kernel.launch == LaunchRule::register_blocks && required[0] != 0) {
    job.shape.global[0] = job.shape.global[0] / job.shape.local[0] * required[0];
    job.shape.local[0] = required[0];
  }
  opencl.get_kernel_work_group_info(job.function.get(), m_device.id, CL_KERNEL_LOCAL_MEM_SIZE,
                                    sizeof(job.local_bytes), &job.local_bytes, nullptr);
  return {};
}

DeviceSession::Step<Owned<cl_mem>> DeviceSession::create_buffer(std::size_t bytes) {
  const OpenclFunctions& opencl = m_library->functions();
  cl_int code = CL_SUCCESS;
  Owned<cl_mem> buffer(
      opencl.create_buffer(m_context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code),
      opencl.release_mem_object);
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(
        Stop{Outcome::failed,
             fmt::format("{} for {} bytes", describe_failure("clCreateBuffer", code), bytes)});
  }
  return buffer;
}

DeviceSession::Step<void> DeviceSession::upload(const Owned<cl_mem>& buffer, const void* data,
                                                std::size_t bytes) {
  const cl_int code = m_library->functions().enqueue_write_buffer(
      m_queue.get(), buffer.get(), CL_TRUE, 0, bytes, data, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(
        Stop{Outcome::failed, describe_failure("clEnqueueWriteBuffer", code)});
  }
  return {};
}

DeviceSession::Step<void> DeviceSession::create_buffers(Job& job) {
  const Size& size = job.measurement.size;
  const std::array<cl_int, 3> sizes{static_cast<cl_int>(size.m), static_cast<cl_int>(size.n),
                                    static_cast<cl_int>(size.l)};
  job.result_bytes =
      result_elements(job.kernel, size, job.shape) * element_bytes(job.kernel.precision);
  struct Wanted {
    Owned<cl_mem>& buffer;
    std::size_t bytes;
    const void* data;
  };
  const Wanted all[] = {{job.result, job.result_bytes, nullptr},
                        {job.left, job.workload.left.size(), job.workload.left.data()},
                        {job.right, job.workload.right.size(), job.workload.right.data()},
                        {job.sizes, sizeof(sizes), sizes.data()}};
  for (const Wanted& wanted : all) {
    if (wanted.bytes == 0) {
      continue;
    }
    Step<Owned<cl_mem>> buffer = create_buffer(wanted.bytes);
    if (!buffer) {
      return tl::unexpected<Stop>(buffer.error());
    }
    wanted.buffer = std::move(*buffer);
    if (wanted.data == nullptr) {
      continue;
    }
    if (Step<void> uploaded = upload(wanted.buffer, wanted.data, wanted.bytes); !uploaded) {
      return uploaded;
    }
  }
  return poison_result(job);
}

DeviceSession::Step<void> DeviceSession::poison_result(Job& job) {
  const std::vector<std::byte> poisoned =
      poison(job.kernel.precision, job.result_bytes / element_bytes(job.kernel.precision));
  return upload(job.result, poisoned.data(), poisoned.size());
}

DeviceSession::Step<void> DeviceSession::set_arguments(Job& job) {
  const OpenclFunctions& opencl = m_library->functions();
  const Size& size = job.measurement.size;
  const auto set_one = [&](cl_uint index, Argument argument) {
    const auto set_buffer = [&](const Owned<cl_mem>& buffer) {
      const cl_mem handle = buffer.get();
      return opencl.set_kernel_arg(job.function.get(), index, sizeof(cl_mem), &handle);
    };
    const auto set_int = [&](std::size_t value) {
      const auto number = static_cast<cl_int>(value);
      return opencl.set_kernel_arg(job.function.get(), index, sizeof(number), &number);
    };
    switch (argument) {
    case Argument::result:
      return set_buffer(job.result);
    case Argument::left:
      return set_buffer(job.left);
    case Argument::right:
      return set_buffer(job.right);
    case Argument::sizes:
      return set_buffer(job.sizes);
    case Argument::m:
      return set_int(size.m);
    case Argument::n:
      return set_int(size.n);
    case Argument::l:
      return set_int(size.l);
    case Argument::count:
      return set_int(size.m * size.n);
    case Argument::local_row:
      return opencl.set_kernel_arg(job.function.get(), index, local_row_bytes(size), nullptr);
    case Argument::local_block:
      break;
    }
    return opencl.set_kernel_arg(job.function.get(), index, k_local_block_bytes, nullptr);
  };
  for (std::size_t i = 0; i < job.kernel.arguments.size(); ++i) {
    const cl_int code = set_one(static_cast<cl_uint>(i), job.kernel.arguments[i]);
    if (code != CL_SUCCESS) {
      return tl::unexpected<Stop>(
          Stop{Outcome::failed,
               fmt::format("{} for argument {}", describe_failure("clSetKernelArg", code), i)});
    }
  }
  return {};
}

DeviceSession::Step<double> DeviceSession::launch(Job& job, bool& timed_by_host) {
  const OpenclFunctions& opencl = m_library->functions();
  const Clock::time_point start = Clock::now();
  cl_event started = nullptr;
  cl_int code = opencl.enqueue_nd_range_kernel(m_queue.get(), job.function.get(), 2, nullptr,
                                               job.shape.global.data(), job.shape.local.data(), 0,
                                               nullptr, &started);
  if (const std::string limit = exceeded_limit(job); code != CL_SUCCESS && !limit.empty()) {
    return tl::unexpected<Stop>(Stop{Outcome::skipped, limit});
  }
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(
        Stop{Outcome::failed, describe_failure("clEnqueueNDRangeKernel", code)});
  }
  const Owned<cl_event> event(started, opencl.release_event);
  code = opencl.finish(m_queue.get());
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(Stop{Outcome::failed, describe_failure("clFinish", code)});
  }
  const double by_host = milliseconds_since(start);
  const double by_event = milliseconds_of(opencl, event.get());
  // rusticl 22.3 reports one nanosecond for every launch.
  const bool credible = by_event * k_least_credible > by_host;
  timed_by_host = timed_by_host || !credible;
  return credible ? by_event : by_host;
}

// The first launch was the warm-up. The timed launches write to a poisoned buffer again, and are
// checked, too.
DeviceSession::Step<void> DeviceSession::time_launches(Job& job) {
  Measurement& measurement = job.measurement;
  const std::size_t most = job.settings.repeat.value_or(k_most_launches);
  const std::size_t least = job.settings.repeat.value_or(job.settings.limits.least_launches);
  const double budget_ms = job.settings.limits.budget_ms;
  if (Step<void> poisoned = poison_result(job); !poisoned) {
    return poisoned;
  }
  const Clock::time_point start = Clock::now();
  while (measurement.launches_ms.size() < most &&
         (measurement.launches_ms.size() < least || milliseconds_since(start) < budget_ms)) {
    const Step<double> launched = launch(job, measurement.timed_by_host);
    if (!launched) {
      return tl::unexpected<Stop>(launched.error());
    }
    measurement.launches_ms.push_back(*launched);
  }
  return check_result(job);
}

DeviceSession::Stop DeviceSession::explain_wrong(const Job& job,
                                                 const Comparison& comparison) const {
  const double iterations = loop_iterations(job.kernel, job.measurement.size, job.shape);
  if (m_device.limits_loops && iterations > k_llvmpipe_loop_limit) {
    return {Outcome::expected_failure,
            fmt::format("{} of {} elements are wrong: llvmpipe ends a work-item's loops after {} "
                        "rounds, here are {:.0f}",
                        comparison.wrong, job.workload.expected.size(), k_llvmpipe_loop_limit,
                        iterations)};
  }
  return {Outcome::failed,
          fmt::format("{} of {} elements are wrong: element {} is {}, expected {}; largest error "
                      "{:.2e}, allowed {:.2e}",
                      comparison.wrong, job.workload.expected.size(), comparison.first_wrong,
                      comparison.first_got, comparison.first_expected, comparison.largest_error,
                      job.measurement.allowed_error)};
}

DeviceSession::Step<void> DeviceSession::check_result(Job& job) {
  std::vector<std::byte> bytes(job.result_bytes);
  const cl_int code = m_library->functions().enqueue_read_buffer(
      m_queue.get(), job.result.get(), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    return tl::unexpected<Stop>(
        Stop{Outcome::failed, describe_failure("clEnqueueReadBuffer", code)});
  }
  Measurement& measurement = job.measurement;
  const Comparison comparison = compare(job.kernel, job.workload, bytes, measurement.allowed_error);
  measurement.largest_error = std::max(measurement.largest_error, comparison.largest_error);
  if (comparison.wrong == 0) {
    return {};
  }
  return tl::unexpected<Stop>(explain_wrong(job, comparison));
}

} // namespace runtime_demo
