#include "worker/kernel_launch.hpp"

#include "format/bundle/bundle_reader.hpp"
#include "opencl/device_query.hpp"

namespace oclcc::worker {

using clbin::opencl::call_failed;
using clbin::opencl::Driver;
using clbin::opencl::KernelLauncher;

namespace {

Result<void> check(cl_int code, std::string_view function) {
  return code == CL_SUCCESS ? Result<void>() : call_failed(function, {}, code);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

} // namespace

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
  clbin::opencl::Context context{};
  std::optional<KernelLauncher> launcher{};
  std::string bundle_path{}; // of `bundle`
  std::optional<format::BundleReader> bundle{};
  clbin::loader::ProgramCache cache{clbin::cache::CacheSettings()};
  std::map<ProgramKey, Loaded> programs{};
  std::optional<Loaded> given{}; // of the last request with a binary
  format::GroupSize max_sizes{};

  Result<void> open() {
    if (launcher) {
      return {};
    }
    cl_int code = CL_SUCCESS;
    context = clbin::opencl::Context(
        driver.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code), driver.ReleaseContext);
    CLBIN_TRY(check(code, "clCreateContext"));
    CLBIN_TRY_ASSIGN(launcher, KernelLauncher::create(driver, context.get(), device));
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
    CLBIN_TRY_ASSIGN(bundle, format::BundleReader::open_file(path));
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
    CLBIN_TRY(launcher->set_buffers(request.arguments, request.data));
    CLBIN_TRY(launcher->set_arguments(kernel));
    for (std::uint32_t i = 0; i < request.launches; ++i) {
      CLBIN_TRY_ASSIGN(
          const LaunchTime time,
          launcher->launch(kernel, {request.dimensions, request.global_size, request.local_size}));
      reply.times.push_back(time);
    }
    if (request.read_back == ReadBack::buffers) {
      CLBIN_TRY_ASSIGN(reply.buffers, launcher->read_results());
    }
    return {};
  }
};

LaunchSession::LaunchSession(const Driver& driver, cl_device_id device)
    : m_state(new State{driver, device}) {}
LaunchSession::~LaunchSession() = default;

LaunchReply LaunchSession::run(const LaunchRequest& request) {
  LaunchReply reply;
  if (const auto done = m_state->run(request, reply); !done) {
    reply.error = first_line(done.error().message);
    if (const auto& call = done.error().call) {
      reply.failed_call = call->function;
      reply.is_device_gone = call->code == CL_DEVICE_NOT_AVAILABLE;
    }
    reply.times.clear();
    reply.buffers.clear();
  }
  return reply;
}

} // namespace oclcc::worker
