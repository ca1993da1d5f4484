#include "worker/kernel_launch.hpp"

#include "base/system/process.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "opencl/device_query.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>

namespace oclcc::worker {

using clbin::opencl::call_failed;
using clbin::opencl::Driver;

namespace {

// The functions of launches, which libclbin does not call.
#define OCLCC_LAUNCH_FUNCTIONS(X)                                                                  \
  X(ReleaseCommandQueue)                                                                           \
  X(CreateBuffer)                                                                                  \
  X(ReleaseMemObject)                                                                              \
  X(SetKernelArg)                                                                                  \
  X(EnqueueNDRangeKernel)                                                                          \
  X(EnqueueReadBuffer)                                                                             \
  X(EnqueueWriteBuffer)                                                                            \
  X(Finish)                                                                                        \
  X(WaitForEvents)                                                                                 \
  X(GetEventInfo)                                                                                  \
  X(GetEventProfilingInfo)                                                                         \
  X(ReleaseEvent)

struct LaunchFunctions {
  // Deprecated since OpenCL 2.0, but every driver has it.
  cl_command_queue(CL_API_CALL* CreateCommandQueue)(cl_context, cl_device_id,
                                                    cl_command_queue_properties, cl_int*) = nullptr;
#define OCLCC_MEMBER(name) decltype(&::cl##name) name = nullptr; // NOLINT(*-parentheses)
  OCLCC_LAUNCH_FUNCTIONS(OCLCC_MEMBER)
#undef OCLCC_MEMBER
};

template <typename Function>
Result<void> resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(base::function_of(library, name));
  if (function == nullptr) {
    return fail(ErrorCode::no_opencl, "the OpenCL library has no function '{}'", name);
  }
  return {};
}

Result<LaunchFunctions> resolve_launch_functions() {
  const std::string name = base::library_names("OpenCL", "1").front();
  const auto opened = base::open_library(name);
  if (!opened) {
    return fail(ErrorCode::no_opencl, "cannot open '{}'", name);
  }
  void* const library = *opened;
  LaunchFunctions functions;
  CLBIN_TRY(resolve(library, "clCreateCommandQueue", functions.CreateCommandQueue));
#define OCLCC_RESOLVE(name) CLBIN_TRY(resolve(library, "cl" #name, functions.name));
  OCLCC_LAUNCH_FUNCTIONS(OCLCC_RESOLVE)
#undef OCLCC_RESOLVE
  return functions;
}

using Queue = clbin::opencl::Handle<cl_command_queue>;
using Memory = clbin::opencl::Handle<cl_mem>;
using Event = clbin::opencl::Handle<cl_event>;

// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine.
class RandomNumbers {
public:
  explicit RandomNumbers(std::uint64_t seed) noexcept : m_state(seed) {}
  std::uint64_t next() noexcept {
    m_state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = m_state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
  }

private:
  std::uint64_t m_state;
};

constexpr std::uint64_t k_random_integers = 100;
constexpr std::uint64_t k_whole_halves = 2048; // that a half can represent, from 0

std::uint64_t bits_of(const LaunchArgument& argument, std::uint64_t index, RandomNumbers& random) {
  const bool is_random = argument.fill == Fill::random;
  // 24 bits, which a float represents exactly, and of which a half keeps those that it can.
  const auto fraction = [&] { return static_cast<float>(random.next() >> 40U) * 0x1p-24F; };
  switch (argument.type) {
  case ElementType::f16:
    return half_of(is_random ? fraction() : static_cast<float>(index % k_whole_halves));
  case ElementType::f32:
    return std::bit_cast<std::uint32_t>(is_random ? fraction() : static_cast<float>(index));
  case ElementType::f64:
    return std::bit_cast<std::uint64_t>(is_random
                                            ? static_cast<double>(random.next() >> 11U) * 0x1p-53
                                            : static_cast<double>(index));
  default:
    return is_random ? random.next() % k_random_integers : index;
  }
}

Result<void> check(cl_int code, std::string_view function) {
  return code == CL_SUCCESS ? Result<void>() : call_failed(function, {}, code);
}

// One buffer of a launch, and what it contains before each.
struct Buffer {
  Memory memory;
  base::Bytes contents;
  bool is_constant = false;
};

using Clock = std::chrono::steady_clock;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

} // namespace

base::Bytes fill_buffer(const LaunchArgument& argument) {
  const std::uint64_t width = element_bytes(argument.type);
  base::Bytes bytes(argument.count * width);
  if (argument.fill == Fill::zero) {
    return bytes;
  }
  RandomNumbers random(argument.seed);
  for (std::uint64_t index = 0; index < argument.count; ++index) {
    const std::uint64_t bits = bits_of(argument, index, random);
    for (std::uint64_t byte = 0; byte < width; ++byte) { // little-endian, as every device is
      bytes[index * width + byte] = static_cast<std::byte>(bits >> (8 * byte));
    }
  }
  return bytes;
}

std::uint16_t half_of(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const float magnitude = std::fabs(number);
  constexpr float k_overflow = 65520.0F; // rounds to 65536
  if (std::isnan(number)) {
    return sign | 0x7E00U;
  }
  if (magnitude >= k_overflow) {
    return sign | 0x7C00U;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);
  // 11 significant bits, but none below 2^-24.
  const int unit = std::max(exponent - 11, -24);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  const auto biased = static_cast<std::uint32_t>(unit + 24);
  // A carry out of the significand is one more in the exponent, as it should be.
  return static_cast<std::uint16_t>(sign + (biased << 10U) + units);
}

float float_of(std::uint16_t half) noexcept {
  const auto exponent = static_cast<int>((half >> 10U) & 0x1FU);
  const auto fraction = static_cast<float>(half & 0x3FFU);
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction == 0 ? sign * HUGE_VALF : std::nanf("");
  }
  const float magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0F, exponent - 25);
  return sign * magnitude;
}

struct LaunchSession::State {
  using ProgramKey = std::pair<std::string, std::string>; // program and variant

  struct Loaded {
    clbin::opencl::Program program;
    std::string origin;
    std::vector<format::KernelReflection> kernels;
    std::map<std::string, clbin::opencl::Kernel> created{};
  };

  const Driver& driver;
  cl_device_id device;
  std::optional<LaunchFunctions> functions{};
  clbin::opencl::Context context{};
  Queue queue{};
  std::string bundle_path{}; // of `bundle`
  std::optional<format::BundleReader> bundle{};
  clbin::loader::ProgramCache cache{clbin::cache::CacheSettings()};
  std::map<ProgramKey, Loaded> programs{};
  std::optional<Loaded> given{};           // of the last request with a binary
  std::vector<LaunchArgument> arguments{}; // of `buffers`
  std::vector<Buffer> buffers{};
  format::GroupSize max_sizes{};

  Result<void> open() {
    if (queue) {
      return {};
    }
    CLBIN_TRY_ASSIGN(functions, resolve_launch_functions());
    cl_int code = CL_SUCCESS;
    context = clbin::opencl::Context(
        driver.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code), driver.ReleaseContext);
    CLBIN_TRY(check(code, "clCreateContext"));
    queue = Queue(
        functions->CreateCommandQueue(context.get(), device, CL_QUEUE_PROFILING_ENABLE, &code),
        functions->ReleaseCommandQueue);
    CLBIN_TRY(check(code, "clCreateCommandQueue"));
    const auto sizes = clbin::opencl::ask_list<std::size_t>(
        std::bind_front(driver.GetDeviceInfo, device, CL_DEVICE_MAX_WORK_ITEM_SIZES));
    for (std::size_t i = 0; sizes && i < std::min(sizes->size(), max_sizes.size()); ++i) {
      max_sizes[i] = (*sizes)[i];
    }
    return {};
  }

  Result<void> open_bundle(const std::string& path) {
    if (bundle_path == path) {
      return {};
    }
    programs.clear();
    CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
    CLBIN_TRY_ASSIGN(bundle, format::BundleReader::open(std::move(source)));
    bundle_path = path;
    return {};
  }

  Result<Loaded*> load(const LaunchRequest& request) {
    if (!request.binary.empty()) {
      return load_binary(request);
    }
    CLBIN_TRY(open_bundle(request.bundle));
    const ProgramKey key(request.program, request.variant);
    if (const auto found = programs.find(key); found != programs.end()) {
      return &found->second;
    }
    clbin::loader::LoadRequest wanted;
    wanted.program = request.program;
    wanted.variant = request.variant;
    wanted.detail = clbin::loader::ReportDetail::attempts_only;
    wanted.devices = {device};
    clbin::loader::LoadReport report;
    CLBIN_TRY_ASSIGN(auto program, clbin::loader::load_program(driver, *bundle, cache,
                                                               context.get(), wanted, report));
    CLBIN_TRY_ASSIGN(auto reflection,
                     clbin::opencl::reflect_kernels(driver, program.get(), device));
    if (report.origin == clbin::loader::Origin::source) {
      add_arguments(wanted, reflection.kernels);
    }
    const auto placed =
        programs.emplace(key, Loaded{std::move(program), std::string(to_string(report.origin)),
                                     std::move(reflection.kernels)});
    return &placed.first->second;
  }

  Result<Loaded*> load_binary(const LaunchRequest& request) {
    given.reset();
    auto outcome = clbin::opencl::build_from_binary(driver, context.get(), device, request.binary,
                                                    request.binary_options, {request.kernel});
    CLBIN_TRY(check(outcome.code, outcome.stage));
    std::vector<format::KernelReflection> kernels(1);
    kernels.front().name = request.kernel;
    return &given.emplace(Loaded{std::move(outcome.program), "entry", std::move(kernels)});
  }

  // Builds the source once more for the arguments, which PoCL does not know otherwise.
  void add_arguments(clbin::loader::LoadRequest request,
                     std::vector<format::KernelReflection>& kernels) {
    const auto is_known = [](const format::KernelReflection& kernel) {
      return kernel.arguments.has_value();
    };
    if (std::ranges::all_of(kernels, is_known)) {
      return;
    }
    request.extra_options = "-cl-kernel-arg-info";
    clbin::loader::LoadReport report;
    const auto program =
        clbin::loader::load_program(driver, *bundle, cache, context.get(), request, report);
    const auto reflection =
        program ? clbin::opencl::reflect_kernels(driver, program->get(), device)
                : Result<clbin::opencl::ProgramReflection>(tl::unexpected(program.error()));
    if (reflection && reflection->kernels.size() == kernels.size()) { // both are sorted by name
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        kernels[i].arguments = reflection->kernels[i].arguments;
      }
    }
  }

  Result<cl_kernel> create_kernel(Loaded& loaded, const std::string& name) const {
    auto& kernel = loaded.created[name];
    if (!kernel) {
      cl_int code = CL_SUCCESS;
      kernel = clbin::opencl::Kernel(driver.CreateKernel(loaded.program.get(), name.c_str(), &code),
                                     driver.ReleaseKernel);
      CLBIN_TRY(check(code, "clCreateKernel"));
    }
    return kernel.get();
  }

  Result<void> create_buffers(const LaunchRequest& request) {
    if (arguments == request.arguments) {
      return {};
    }
    arguments.clear();
    buffers.clear();
    for (const LaunchArgument& argument : request.arguments) {
      if (argument.kind != ArgumentKind::buffer) {
        continue;
      }
      Buffer& buffer = buffers.emplace_back();
      buffer.contents = fill_buffer(argument);
      buffer.is_constant = argument.is_constant;
      cl_int code = CL_SUCCESS;
      buffer.memory = Memory(functions->CreateBuffer(context.get(), CL_MEM_READ_WRITE,
                                                     buffer.contents.size(), nullptr, &code),
                             functions->ReleaseMemObject);
      CLBIN_TRY(check(code, "clCreateBuffer"));
      CLBIN_TRY(write(buffer));
    }
    arguments = request.arguments;
    return {};
  }

  [[nodiscard]] Result<void> write(const Buffer& buffer) const {
    return check(functions->EnqueueWriteBuffer(queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                               buffer.contents.size(), buffer.contents.data(), 0,
                                               nullptr, nullptr),
                 "clEnqueueWriteBuffer");
  }

  Result<void> set_argument(cl_kernel kernel, std::size_t index, std::size_t size,
                            const void* value) const {
    const cl_int code = functions->SetKernelArg(kernel, static_cast<cl_uint>(index), size, value);
    return code == CL_SUCCESS ? Result<void>()
                              : call_failed("clSetKernelArg", fmt::format("{}", index), code);
  }

  Result<void> set_arguments(cl_kernel kernel, const LaunchRequest& request) const {
    auto next_buffer = buffers.begin();
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
      const LaunchArgument& argument = request.arguments[i];
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

  [[nodiscard]] std::uint64_t profiled_ns(cl_event event) const {
    const auto ask = [&](cl_profiling_info name) {
      return clbin::opencl::ask_value<cl_ulong>(
          std::bind_front(functions->GetEventProfilingInfo, event, name));
    };
    const auto begin = ask(CL_PROFILING_COMMAND_START);
    const auto end = ask(CL_PROFILING_COMMAND_END);
    return begin && end && *end > *begin ? *end - *begin : 0;
  }

  Result<LaunchTime> launch(cl_kernel kernel, const LaunchRequest& request) const {
    std::array<std::size_t, 3> global{};
    std::array<std::size_t, 3> local{};
    std::ranges::copy(request.global_size, global.begin());
    std::ranges::copy(request.local_size, local.begin());
    cl_event started = nullptr;
    const auto before = Clock::now();
    CLBIN_TRY(check(functions->EnqueueNDRangeKernel(
                        queue.get(), kernel, request.dimensions, nullptr, global.data(),
                        local[0] == 0 ? nullptr : local.data(), 0, nullptr, &started),
                    "clEnqueueNDRangeKernel"));
    const Event event(started, functions->ReleaseEvent);
    CLBIN_TRY(check(functions->Finish(queue.get()), "clFinish"));
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - before);
    CLBIN_TRY(check(functions->WaitForEvents(1, &started), "clWaitForEvents"));
    const auto status = clbin::opencl::ask_value<cl_int>(
        std::bind_front(functions->GetEventInfo, started, CL_EVENT_COMMAND_EXECUTION_STATUS));
    if (status && *status < 0) {
      return call_failed("the launch", {}, *status);
    }
    return LaunchTime{static_cast<std::uint64_t>(elapsed.count()), profiled_ns(started)};
  }

  Result<void> read_back(LaunchReply& reply) const {
    for (const Buffer& buffer : buffers) {
      if (buffer.is_constant) {
        continue;
      }
      base::Bytes& bytes = reply.buffers.emplace_back(buffer.contents.size());
      CLBIN_TRY(check(functions->EnqueueReadBuffer(queue.get(), buffer.memory.get(), CL_TRUE, 0,
                                                   bytes.size(), bytes.data(), 0, nullptr, nullptr),
                      "clEnqueueReadBuffer"));
    }
    return {};
  }

  Result<void> run(const LaunchRequest& request, LaunchReply& reply) {
    CLBIN_TRY(open());
    reply.max_sizes = max_sizes;
    CLBIN_TRY_ASSIGN(Loaded* const loaded, load(request));
    reply.origin = loaded->origin;
    const auto known =
        std::ranges::find(loaded->kernels, request.kernel, &format::KernelReflection::name);
    if (known == loaded->kernels.end()) {
      return fail(ErrorCode::invalid_argument, "the variant has no kernel '{}'", request.kernel);
    }
    reply.kernel = *known;
    if (request.launches == 0) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const cl_kernel kernel, create_kernel(*loaded, request.kernel));
    CLBIN_TRY(create_buffers(request));
    CLBIN_TRY(set_arguments(kernel, request));
    for (std::uint32_t i = 0; i < request.launches; ++i) {
      for (const Buffer& buffer : buffers) {
        CLBIN_TRY(buffer.is_constant ? Result<void>() : write(buffer));
      }
      CLBIN_TRY_ASSIGN(const LaunchTime time, launch(kernel, request));
      reply.times.push_back(time);
    }
    return request.read_back == ReadBack::buffers ? read_back(reply) : Result<void>();
  }
};

LaunchSession::LaunchSession(const Driver& driver, cl_device_id device)
    : m_state(new State{driver, device}) {}
LaunchSession::~LaunchSession() = default;

LaunchReply LaunchSession::run(const LaunchRequest& request) {
  LaunchReply reply;
  if (const auto done = m_state->run(request, reply); !done) {
    reply.error = first_line(done.error().message);
    reply.failed_call = done.error().call ? done.error().call->function : "";
    reply.times.clear();
    reply.buffers.clear();
  }
  return reply;
}

} // namespace oclcc::worker
