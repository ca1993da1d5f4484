#include "worker/worker_main.hpp"

#include "base/system/process.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"
#include "worker/driver_rules.hpp"
#include "worker/forks.hpp"
#include "worker/installed_devices.hpp"
#include "worker/kernel_launch.hpp"

#include <cstdio>
#include <system_error>

namespace oclcc::worker {

using clbin::opencl::Driver;
using format::DeviceIdentity;
using format::KernelReflection;

namespace {

// The include guard of clang's opencl-c.h. On PoCL, reading that header takes 100 ms of a warm-up's
// 650 (measured). A warm-up loads the built-in library, which does not need the header.
constexpr const char* k_without_opencl_header = "-D_OPENCL_H_";

// Objects of an ICD start with the table of its functions (cl_khr_icd). One of the functions
// identifies the library of the platform, wherever the loader found it.
std::string library_of(cl_platform_id platform) {
  void* const* const table = *reinterpret_cast<void* const* const*>(platform);
  return table == nullptr ? "" : library_containing(table[0]);
}

template <typename T>
T device_number(const Driver& driver, cl_device_id device, cl_device_info name, T otherwise) {
  T value{};
  const cl_int code = driver.GetDeviceInfo(device, name, sizeof(value), &value, nullptr);
  return code == CL_SUCCESS ? value : otherwise;
}

DeviceDescription describe_device(const Driver& driver, cl_device_id device) {
  DeviceDescription description;
  description.type = device_number<cl_device_type>(driver, device, CL_DEVICE_TYPE, 0);
  description.compiler_available =
      device_number<cl_bool>(driver, device, CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE) != CL_FALSE;
  return description;
}

// PoCL 3.1 creates a directory for each kernel, and aborts if the system rejects the name.
Error with_long_kernel(Error error, const std::vector<KernelReflection>& kernels) {
  constexpr std::size_t k_most_bytes = 254;
  constexpr std::size_t k_shown_bytes = 40;
  const auto longest = std::ranges::max_element(
      kernels, {}, [](const KernelReflection& kernel) { return kernel.name.size(); });
  if (longest != kernels.end() && longest->name.size() > k_most_bytes) {
    error.message +=
        fmt::format("; PoCL cannot make the binary of kernel '{}...', whose name has "
                    "{} characters, more than {}",
                    longest->name.substr(0, k_shown_bytes), longest->name.size(), k_most_bytes);
  }
  return error;
}

// Drivers read it in every build. No thread of a driver reads the environment between builds.
void set_working_directory_name(const std::string& name) {
  if (base::environment_variable("PWD") != name) {
    base::set_environment_variable("PWD", name);
  }
}

BuildReply failed(std::string error) {
  BuildReply reply;
  reply.error = std::move(error);
  return reply;
}

// State of a worker between requests: the drivers and their devices.
class WorkerSession {
public:
  EnumerateReply enumerate(const EnumerateRequest& request) {
    EnumerateReply reply;
    if (const auto opened = open(); !opened) {
      reply.error = opened.error().message;
      reply.no_opencl = opened.error().code == ErrorCode::no_opencl;
      return reply;
    }
    for (std::size_t p = 0; p < m_platforms.size(); ++p) {
      Platform& platform = m_platforms[p];
      for (std::size_t d = 0; d < platform.devices.size(); ++d) {
        Device& device = platform.devices[d];
        const auto identity = identity_of(device);
        if (!identity) {
          reply.error = fmt::format("device {}:{}: {}", p, d, identity.error().message);
          return reply;
        }
        DeviceDescription description = describe_device(*m_driver, device.id);
        description.identity = *identity;
        description.platform = static_cast<std::uint32_t>(p);
        description.device = static_cast<std::uint32_t>(d);
        description.driver_library = library_of(platform.id);
        description.extensions = clbin::opencl::device_extensions(*m_driver, device.id)
                                     .value_or(std::vector<std::string>());
        if (request.with_properties) {
          description.properties = query_device_properties(*m_driver, device.id);
        }
        reply.devices.push_back(std::move(description));
      }
    }
    if (reply.devices.empty()) { // the ICD loader skips libraries that it cannot load
      reply.load_failures = load_failures(installed_driver_libraries());
    }
    return reply;
  }

  // Of the request's device.
  Result<DeviceIdentity> identity_of(const BuildRequest& request) {
    CLBIN_TRY_ASSIGN(const Device device, find_device(request));
    return *device.identity;
  }

  // Builds a trivial program for the request's device and keeps it. Ignores failures: the first
  // unit then takes longer.
  void warm_up(const BuildRequest& request) {
    const auto device = find_device(request);
    if (!device) {
      return;
    }
    cl_int code = CL_SUCCESS;
    m_warm_context = clbin::opencl::Context(
        m_driver->CreateContext(nullptr, 1, &device->id, nullptr, nullptr, &code),
        m_driver->ReleaseContext);
    if (m_warm_context && code == CL_SUCCESS) {
      m_warm_program = build_trivial_program(*device);
    }
  }

  // Creates a context for the unit.
  BuildReply build(const BuildRequest& request) {
    const auto device = find_device(request);
    if (!device) {
      return failed(device.error().message);
    }
    const Driver& driver = *m_driver;
    const auto family = format::device_family(*device->identity);
    set_working_directory_name(writes_working_directory(family) ? k_current_folder
                                                                : m_folder.string());
    cl_int code = CL_SUCCESS;
    m_context = clbin::opencl::Context(
        driver.CreateContext(nullptr, 1, &device->id, nullptr, nullptr, &code),
        driver.ReleaseContext);
    if (!m_context || code != CL_SUCCESS) {
      return failed(fmt::format("clCreateContext failed: {}", clbin::opencl::cl_error_name(code)));
    }
    const bool is_loaded = !request.binary.empty();
    std::string options = request.options;
    if (!is_loaded) {
      options += options.empty() ? "-cl-kernel-arg-info" : " -cl-kernel-arg-info";
    }
    auto outcome = is_loaded ? clbin::opencl::build_from_binary(driver, m_context.get(), device->id,
                                                                request.binary, options,
                                                                request.binary_kernels)
                             : clbin::opencl::build_from_source(
                                   driver, m_context.get(), {device->id}, request.source, options);
    m_program = std::move(outcome.program);
    BuildReply reply;
    reply.cl_code = outcome.code;
    reply.stage = std::move(outcome.stage);
    reply.log = std::move(outcome.log);
    if (is_loaded || outcome.code != CL_SUCCESS) {
      return reply;
    }
    if (const auto filled = fill_reply(request, device->id, family, reply); !filled) {
      reply.error = filled.error().message;
    }
    return reply;
  }

  LaunchReply launch(const LaunchRequest& request) {
    const auto device = find_device(request);
    if (!device) {
      LaunchReply reply;
      reply.error = device.error().message;
      return reply;
    }
    auto& session = m_launches[device->id];
    if (session == nullptr) {
      session = std::make_unique<LaunchSession>(*m_driver, device->id);
    }
    return session->run(request);
  }

  Result<WarmReply> warm(const WarmRequest& request) {
    CLBIN_TRY_ASSIGN(const Device device, find_device(request));
    const std::filesystem::path path = base::to_path(request.bundle);
    const bool is_set = std::filesystem::is_directory(path);
    CLBIN_TRY_ASSIGN(const auto bundle,
                     format::BundleReader::open_file(
                         is_set ? format::pack_path(path, format::k_base_name) : path));
    CLBIN_TRY_ASSIGN(auto records, bundle.packs());
    const clbin::loader::PackSet packs(std::move(records), [&path](const std::string& name) {
      return format::BundleReader::open_file(format::pack_path(path, name));
    });
    cl_int code = CL_SUCCESS;
    const clbin::opencl::Context context(
        m_driver->CreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code),
        m_driver->ReleaseContext);
    if (!context || code != CL_SUCCESS) {
      return fail(ErrorCode::opencl_call, "clCreateContext failed: {}",
                  clbin::opencl::cl_error_name(code));
    }
    clbin::cache::CacheSettings settings =
        clbin::cache::CacheSettings::from_environment(clbin::cache::this_process());
    settings.use = clbin::cache::CacheUse::on;
    settings.folder = base::to_path(request.cache_folder);
    settings.max_bytes = request.max_cache_bytes;
    clbin::loader::ProgramCache cache(settings);
    clbin::loader::LoadRequest wanted;
    wanted.program = request.program;
    wanted.variant = request.variant;
    wanted.detail = clbin::loader::ReportDetail::attempts_only;
    wanted.devices = {device.id};
    wanted.answers_limit = clbin::loader::k_warm_answers_limit; // oclcc ends the worker before
    if (needs_specialization(format::device_family(*device.identity))) {
      wanted.take_binary = [&](cl_program program) {
        return warm_binary(device, program, request.specializations);
      };
    }
    clbin::loader::LoadReport report;
    CLBIN_TRY(clbin::loader::warm_variant(*m_driver, bundle, cache, context.get(),
                                          std::move(wanted), report, is_set ? &packs : nullptr));
    return WarmReply{{}, std::string(to_string(report.origin)), std::move(report.warnings)};
  }

  // Releases the objects of the last build, before the next build. On PoCL, this takes longer than
  // building a small kernel on other drivers.
  void release_unit() noexcept {
    m_program = {};
    m_context = {};
  }

private:
  struct Device {
    cl_device_id id = nullptr;
    std::optional<DeviceIdentity> identity; // once asked for
  };
  struct Platform {
    cl_platform_id id = nullptr;
    std::vector<Device> devices;
  };

  Result<void> open() {
    if (m_driver) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const Driver driver, clbin::opencl::open_icd_driver());
    CLBIN_TRY_ASSIGN(const auto ids, clbin::opencl::list_platforms(driver));
    std::vector<Platform> platforms;
    for (cl_platform_id id : ids) {
      CLBIN_TRY_ASSIGN(const auto devices, clbin::opencl::list_devices(driver, id));
      Platform& platform = platforms.emplace_back();
      platform.id = id;
      for (cl_device_id device : devices) {
        platform.devices.push_back({device, std::nullopt});
      }
    }
    m_platforms = std::move(platforms);
    m_driver = driver;
    return {};
  }

  // Asks the driver the first time only.
  Result<DeviceIdentity> identity_of(Device& device) {
    if (!device.identity) {
      CLBIN_TRY_ASSIGN(device.identity, clbin::opencl::query_identity(*m_driver, device.id));
    }
    return *device.identity;
  }

  // With its identity.
  Result<Device> find_device(const auto& request) {
    CLBIN_TRY(open());
    if (request.platform >= m_platforms.size() ||
        request.device >= m_platforms[request.platform].devices.size()) {
      return fail(ErrorCode::no_device, "device {}:{} is no longer available", request.platform,
                  request.device);
    }
    Device& device = m_platforms[request.platform].devices[request.device];
    CLBIN_TRY(identity_of(device));
    return device;
  }

  clbin::opencl::Program build_trivial_program(const Device& device) const {
    cl_context context = m_warm_context.get();
    if (warm_up_for(*device.identity) == WarmUp::il) {
      return clbin::opencl::build_from_il(*m_driver, context, {device.id}, warm_up_module(), {}, {},
                                          {})
          .program;
    }
    format::SourcePackage source;
    source.main = {"warm_up.cl", "warm_up.cl", "kernel void warm_up(void) {}\n"};
    auto outcome = clbin::opencl::build_from_source(*m_driver, context, {device.id}, source,
                                                    k_without_opencl_header);
    if (outcome.code != CL_SUCCESS) {
      outcome = clbin::opencl::build_from_source(*m_driver, context, {device.id}, source, {});
    }
    return std::move(outcome.program);
  }

  // Fills in the binary and the reflection of m_program.
  Result<void> fill_reply(const BuildRequest& request, cl_device_id device,
                          format::DeviceFamily family, BuildReply& reply) {
    const Driver& driver = *m_driver;
    cl_program program = m_program.get();
    if (!needs_specialization(family)) {
      // Before the reflection, which creates kernels: the binary must contain only the result of
      // the build.
      CLBIN_TRY_ASSIGN(reply.binary, clbin::opencl::program_binary(driver, program, device));
      return reflect(request, device, reply);
    }
    CLBIN_TRY(reflect(request, device, reply));
    CLBIN_TRY_ASSIGN(reply.binary,
                     specialized_binary(program, device, reply.kernels, request.specializations));
    return {};
  }

  // Returns the binary with the code of first launches, and notes their sizes in `kernels`.
  Result<Bytes> specialized_binary(cl_program program, cl_device_id device,
                                   std::vector<KernelReflection>& kernels,
                                   const std::vector<Specialization>& specializations) const {
    std::set<GroupSize> sizes;
    std::set<GroupSize> offset_sizes;
    for (KernelReflection& kernel : kernels) {
      kernel.specialized_sizes = clbin::listing::sizes_to_specialize(kernel, specializations);
      for (const GroupSize& size : kernel.specialized_sizes) {
        sizes.insert(size);
        if (clbin::listing::has_offset_launch(kernel.name, size, specializations)) {
          offset_sizes.insert(size);
        }
      }
    }
    const auto passes = first_launch_passes(format::DeviceFamily::pocl, sizes, offset_sizes);
    auto binary = binary_for_first_launch(program, device, passes);
    if (!binary) {
      return tl::unexpected(with_long_kernel(std::move(binary.error()), kernels));
    }
    return binary;
  }

  // The binary that the user cache stores on PoCL.
  Result<Bytes> warm_binary(const Device& device, cl_program program,
                            const std::vector<Specialization>& specializations) const {
    CLBIN_TRY_ASSIGN(auto reflection,
                     clbin::opencl::reflect_kernels(*m_driver, program, device.id));
    return specialized_binary(program, device.id, reflection.kernels, specializations);
  }

  Result<void> reflect(const BuildRequest& request, cl_device_id device, BuildReply& reply) {
    const clbin::opencl::KernelCreation creation{
        [this](const std::string& kernel) { m_kernel_note.set(kernel); }, request.fatal_kernels};
    auto reflection = clbin::opencl::reflect_kernels(*m_driver, m_program.get(), device, creation);
    m_kernel_note.clear();
    if (!reflection) {
      return tl::unexpected(reflection.error());
    }
    for (const std::string& problem : reflection->problems) {
      reply.log += fmt::format("{}warning: {}", reply.log.empty() ? "" : "\n", problem);
    }
    reply.kernels = std::move(reflection->kernels);
    return {};
  }

  Result<Bytes> binary_for_first_launch(cl_program program, cl_device_id device,
                                        const std::vector<BinaryPass>& passes) const {
    Bytes binary;
    for (const BinaryPass& pass : passes) {
      const auto ask = [&] {
        base::set_environment_variable(pass.variable, pass.value);
        return clbin::opencl::program_binary(*m_driver, program, device);
      };
      CLBIN_TRY_ASSIGN(binary, run_in_child(pass.purpose, ask));
    }
    return binary;
  }

  std::filesystem::path m_folder = std::filesystem::current_path();
  KernelNote m_kernel_note;
  std::optional<Driver> m_driver;
  std::vector<Platform> m_platforms;
  clbin::opencl::Context m_warm_context;
  clbin::opencl::Program m_warm_program;
  clbin::opencl::Context m_context;
  clbin::opencl::Program m_program;
  std::map<cl_device_id, std::unique_ptr<LaunchSession>> m_launches;
};

// Also checks the environment, because parts of the working directory will be removed.
bool is_started_by_oclcc() {
  return base::environment_variable("POCL_CACHE_DIR") == k_pocl_folder &&
         base::is_socket(k_worker_channel);
}

// PoCL's cache of a program, "FK/DPCJC…". It exists as long as the process: PoCL remembers the
// kernels that it has loaded, and a binary of a program without its cache lacks their code.
bool is_program_cache(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return entry.parent_path() == k_pocl_folder && name.size() == 2 &&
         std::ranges::all_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

enum class ProgramCaches : std::uint8_t { keep, remove };

// Removes the files of previous units. The directories remain, because drivers expect them.
void empty_driver_folders(ProgramCaches caches) {
  std::error_code ignored;
  for (const char* folder : {k_pocl_folder, k_cache_folder, k_temporary_folder}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (caches == ProgramCaches::remove || !is_program_cache(entry.path())) {
        std::filesystem::remove_all(entry.path(), ignored);
      }
    }
  }
}

bool send(const Message& message) {
  return send_message(k_worker_channel, message.kind, message.body, std::nullopt).has_value();
}

// Answers requests. Each function returns false if the parent is gone or sent no valid request.
class Service {
public:
  explicit Service(void (*reset_names)() noexcept) : m_reset_names(reset_names) {}

  [[nodiscard]] bool answer(const Message& request) {
    switch (request.kind) {
    case MessageKind::enumerate_request:
      return answer_enumerate(request);
    case MessageKind::build_request:
      return answer_build(request);
    case MessageKind::launch_request:
      return answer_launch(request);
    case MessageKind::warm_request:
      return answer_warm(request);
    default:
      return false;
    }
  }

private:
  [[nodiscard]] bool answer_enumerate(const Message& request) {
    const auto message = decode<EnumerateRequest>(request.body);
    if (!message) {
      return false;
    }
    Bytes reply = encode(m_session.enumerate(*message));
    std::fflush(stdout);
    return send({MessageKind::enumerate_reply, std::move(reply)});
  }

  [[nodiscard]] bool answer_launch(const Message& request) {
    const auto message = decode<LaunchRequest>(request.body);
    if (!message) {
      return false;
    }
    Bytes reply = encode(m_session.launch(*message));
    std::fflush(stdout);
    return send({MessageKind::launch_reply, std::move(reply)});
  }

  [[nodiscard]] bool answer_warm(const Message& request) {
    const auto message = decode<WarmRequest>(request.body);
    if (!message) {
      return false;
    }
    const auto reply = m_session.warm(*message);
    Bytes bytes = encode(reply ? *reply : WarmReply{reply.error().message, {}, {}});
    std::fflush(stdout);
    return send({MessageKind::warm_reply, std::move(bytes)});
  }

  [[nodiscard]] bool answer_build(const Message& request) {
    const auto message = decode<BuildRequest>(request.body);
    if (!message) {
      return false;
    }
    const auto identity = m_session.identity_of(*message);
    // Loading a binary does not affect the bytes of a later unit.
    const bool needs_warm_copy =
        message->binary.empty() && identity && unit_isolation(*identity) == UnitIsolation::copy;
    if (!needs_warm_copy) {
      return build_here(*message, ProgramCaches::keep);
    }
    if (message->further_units == FurtherUnits::expected) {
      return build_in_copy(request, *message);
    }
    // A copy starts from the same state, but costs some 50 ms.
    if (warm_up_for(*identity) == WarmUp::source) {
      warm_up(*message);
    }
    return build_here(*message, ProgramCaches::remove);
  }

  [[nodiscard]] bool build_here(const BuildRequest& message, ProgramCaches caches) {
    Bytes reply = build(message, caches);
    std::fflush(stdout); // it is the unit's
    if (!send({MessageKind::build_reply, std::move(reply)})) {
      return false;
    }
    // The parent does not wait for slow releases, and a crash in them fails no unit.
    const QuietOutput quiet;
    m_session.release_unit();
    return send({MessageKind::settled, {}});
  }

  [[nodiscard]] bool build_in_copy(const Message& request, const BuildRequest& message) {
    const std::pair device(message.platform, message.device);
    auto copy = m_copies.find(device);
    if (copy == m_copies.end()) {
      auto started =
          WarmCopy::start([&] { warm_up(message); },
                          [this](base::ByteView bytes) {
                            const auto unit = decode<BuildRequest>(bytes);
                            return build(unit.value_or(BuildRequest()), ProgramCaches::remove);
                          });
      if (!started) {
        BuildReply refusal;
        refusal.error = started.error().message;
        return send({MessageKind::build_reply, encode(refusal)}) &&
               send({MessageKind::settled, {}});
      }
      copy = m_copies.emplace(device, std::move(*started)).first;
    }
    bool sent = true;
    copy->second.serve(request.body, [&](const Message& answer) { sent = sent && send(answer); });
    return sent;
  }

  void warm_up(const BuildRequest& message) {
    const QuietOutput quiet;
    m_reset_names();
    m_session.warm_up(message);
  }

  [[nodiscard]] Bytes build(const BuildRequest& message, ProgramCaches caches) {
    empty_driver_folders(caches);
    m_reset_names();
    return encode(m_session.build(message));
  }

  void (*m_reset_names)() noexcept;
  WorkerSession m_session;
  std::map<std::pair<std::uint32_t, std::uint32_t>, WarmCopy> m_copies; // by platform and device
};

} // namespace

bool run_worker(void (*reset_names)() noexcept) {
  if (!is_started_by_oclcc()) {
    return false;
  }
  settle_worker();
  Service service(reset_names);
  for (;;) {
    const auto request = receive_message(k_worker_channel, std::nullopt);
    if (!request || !service.answer(*request)) {
      break;
    }
  }
  // Does not return from main, because destructors of drivers have crashed and hung.
  end_at_once();
}

} // namespace oclcc::worker
