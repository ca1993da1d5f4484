#include "closure/include_closure.hpp"
#include "format/binary/binary_kernels.hpp"
#include "layer/program_builds.hpp"
#include "opencl/device_query.hpp"
#include "source/recorded_names.hpp"

namespace clbin::layer {

namespace {

using loader::RunTimeProgram;

cache::CacheSettings user_cache_settings(cache::CacheSettings cache,
                                         const LayerSettings& settings) {
  cache.on_pocl = settings.pocl == PoclCache::on ? cache::CacheOnPocl::yes //
                                                 : cache::CacheOnPocl::no;
  if (settings.signatures == SignatureUse::required &&
      settings.unsigned_cache == UnsignedCache::off) {
    cache.use = cache::CacheUse::off;
    cache.why_off = "a signature is required, and nobody signs its entries";
  }
  return cache;
}

base::Result<std::shared_ptr<const format::BundleReader>>
open_bundle(const std::filesystem::path& path, const LayerSettings& settings) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  constexpr auto k_refuse = format::TrailingBytes::refuse;
  auto opened = settings.signatures == SignatureUse::required
                    ? format::BundleReader::open(std::move(source), {}, k_refuse,
                                                 {settings.public_keys, settings.least_counter})
                    : format::BundleReader::open(std::move(source), {}, k_refuse);
  CLBIN_TRY_ASSIGN(auto reader, std::move(opened));
  if (reader.is_encrypted()) {
    return base::fail(base::ErrorCode::encrypted, "it is encrypted, and the layer has no key");
  }
  return std::make_shared<const format::BundleReader>(std::move(reader));
}

loader::RunTimeRequest request_for(const TrackedProgram& program,
                                   const std::map<cl_uint, base::Bytes>& constants,
                                   const std::vector<cl_device_id>& devices,
                                   const std::string& options) {
  loader::RunTimeRequest request;
  if (program.il.empty()) {
    request.source.strings = {program.text};
  } else {
    request.source.il = program.il;
  }
  request.source.options = options;
  for (const auto& [id, value] : constants) {
    request.source.constants.push_back({id, value});
  }
  request.devices = devices;
  // Queries of arguments must be answered although binaries do not contain the answers.
  request.kernels = loader::KernelDetail::arguments;
  return request;
}

std::vector<std::string> sorted_kernel_names(const opencl::Driver& driver, cl_program program) {
  auto names = opencl::program_kernel_names(driver, program).value_or(std::vector<std::string>());
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the kernels of a program that was just built.
std::vector<format::KernelReflection> recorded_kernels(const opencl::Driver& driver,
                                                       cl_program program, cl_device_id device,
                                                       const format::DeviceIdentity& identity) {
  std::vector<format::KernelReflection> kernels;
  if (opencl::creates_kernels_safely(identity)) {
    auto reflection = opencl::reflect_kernels(driver, program, device);
    return reflection.has_value() ? std::move(reflection->kernels) : std::move(kernels);
  }
  for (std::string& name : sorted_kernel_names(driver, program)) {
    kernels.emplace_back().name = std::move(name);
  }
  return kernels;
}

// Returns an entry without its variant and options.
base::Result<format::EntryInput> recorded_entry(const opencl::Driver& driver, cl_program program,
                                                cl_device_id device) {
  format::EntryInput entry;
  CLBIN_TRY_ASSIGN(entry.target.identity, opencl::query_identity(driver, device));
  CLBIN_TRY_ASSIGN(entry.payload, opencl::program_binary(driver, program, device));
  entry.kernels = recorded_kernels(driver, program, device, entry.target.identity);
  entry.build_log = opencl::build_log(driver, program, {device});
  return entry;
}

// "off: …" and "not used: …" are reasons of an attempt, which names the user cache.
std::string reason_of(const loader::Attempt& attempt) {
  const bool is_of_cache = attempt.rule == loader::Rule::user_cache;
  return is_of_cache &&
                 (attempt.reason.starts_with("off: ") || attempt.reason.starts_with("not used: "))
             ? "the user cache is " + attempt.reason
             : attempt.reason;
}

std::string first_kernel_name(const TrackedProgram& program) {
  if (program.il.empty()) {
    return source::first_kernel_name(program.text);
  }
  const auto module = format::read_spirv_module(program.il);
  return module.has_value() && !module->kernels.empty() ? module->kernels.front().name
                                                        : std::string();
}

} // namespace

std::string kernel_in_parentheses(const TrackedProgram& program) {
  const std::string name = first_kernel_name(program);
  return name.empty() ? "" : fmt::format(" (kernel '{}')", name);
}

ServedPrograms::ServedPrograms(const cl_icd_dispatch& next, const LayerSettings& settings,
                               const LayerLog& log, const cache::CacheSettings& cache)
    : m_driver(driver_of(next).value()), m_settings(settings), m_log(log),
      m_builder(user_cache_settings(cache, settings), cache, loader::UnsignedSource::built) {
  for (const std::filesystem::path& path : settings.bundles) {
    auto bundle = open_bundle(path, settings);
    if (bundle.has_value()) {
      m_builder.add_bundle(*std::move(bundle));
    } else {
      report_problem(
          fmt::format("{} is not used: {}", base::in_quotes(path), bundle.error().message));
    }
  }
}

base::Result<void> ServedPrograms::begin(ServedBuild& build, const TrackedProgram& program,
                                         const std::map<cl_uint, base::Bytes>& constants,
                                         const std::string& options) {
  loader::RunTimeRequest request = request_for(program, constants, build.m_devices, options);
  request.fallback = m_settings.mode == Mode::serve ? loader::FallbackPolicy::never
                                                    : loader::FallbackPolicy::if_needed;
  request.bundle_il =
      m_settings.mode == Mode::strict ? loader::BundleIl::ignored : loader::BundleIl::built;
  build.m_tracked = &program;
  build.m_report = {};
  build.m_options = options;
  build.m_has_constants = !constants.empty();
  CLBIN_TRY_ASSIGN(build.m_program, RunTimeProgram::begin(m_driver, m_builder, program.context,
                                                          std::move(request), build.m_report));
  return {};
}

base::Result<std::unique_ptr<ServedBuild>>
ServedPrograms::prepare(const TrackedProgram& program,
                        const std::map<cl_uint, base::Bytes>& constants,
                        const std::vector<cl_device_id>& devices, const std::string& options) {
  std::unique_ptr<ServedBuild> build(new ServedBuild(*this));
  build->m_devices = devices;
  CLBIN_TRY(begin(*build, program, constants, options));
  if (m_settings.rules.empty()) {
    return build; // without the digest of the source, which takes time and may never be needed
  }
  const std::string changed =
      apply_rules(m_settings.rules, {build->m_program->program(), program.text}, options);
  if (changed != options) {
    CLBIN_TRY(begin(*build, program, constants, changed));
  }
  return build;
}

std::string ServedBuild::description() const {
  std::string devices;
  for (const cl_device_id device : m_devices) {
    devices += fmt::format(
        "{}'{}'", devices.empty() ? "" : ", ",
        opencl::device_text(m_shared.m_driver, device, CL_DEVICE_NAME).value_or(std::string()));
  }
  const std::string& name = m_program->program();
  return fmt::format("program {}{} with options '{}' for {}", name.empty() ? "(no digest)" : name,
                     kernel_in_parentheses(*m_tracked), m_options, devices);
}

std::string ServedBuild::key() const {
  return m_program->program() + " " + m_program->normalized_options();
}

std::string ServedBuild::why_not() const {
  const std::string& why_not_keyed = m_program->why_not_keyed();
  std::string text = why_not_keyed;
  if (m_has_constants && m_shared.m_settings.mode == Mode::record) {
    text = "it has specialization constants";
  }
  const auto add = [&text](const std::string& reason) {
    if (!reason.empty() && text.find(reason) == std::string::npos) {
      text += (text.empty() ? "" : "; ") + reason;
    }
  };
  const LayerSettings& settings = m_shared.m_settings;
  bool has_entry = false; // of a bundle
  for (const loader::Attempt& attempt : m_report.attempts) {
    has_entry |= attempt.rule != loader::Rule::user_cache;
  }
  if (text.empty() && !has_entry && settings.mode != Mode::record) {
    add(settings.bundles.empty() ? "" : "no bundle contains it with these options");
  }
  for (const loader::Attempt& attempt : m_report.attempts) {
    const bool is_told = !why_not_keyed.empty() && attempt.reason.ends_with(why_not_keyed);
    if (attempt.decision != loader::Decision::loaded && !is_told) {
      add(reason_of(attempt));
    }
  }
  for (const std::string& warning : m_report.warnings) {
    add(warning);
  }
  return text;
}

std::optional<loader::ServedProgram> ServedBuild::serve() {
  return m_program->serve();
}

std::string_view ServedBuild::outcome() const noexcept {
  switch (m_report.origin) {
  case loader::Origin::user_cache:
    return "served from the user cache";
  case loader::Origin::il:
    return "built from the IL of a bundle";
  default:
    return "served from a bundle";
  }
}

bool ServedBuild::is_on_pocl() const {
  return m_program->is_on_pocl();
}

void ServedBuild::keep(cl_program program, loader::KeepTime time) {
  m_report.warnings.clear();
  m_program->keep(program, time);
  // A process that ends without telling its layers must not lose what it has built.
  m_shared.m_builder.cache().stores.drain();
  for (const std::string& warning : m_report.warnings) {
    m_shared.m_log.write(fmt::format("not kept: {}: {}", warning, description()));
  }
}

void ServedBuild::keep_copy(loader::KeepTime time) {
  const opencl::BuildOutcome copy = opencl::build_from_strings(
      m_shared.m_driver, m_tracked->context, m_devices, {m_tracked->text}, m_options);
  if (copy.program) {
    keep(copy.program.get(), time);
  }
}

void ServedBuild::add_recorded_entry(RecordedBuild& build, cl_program program,
                                     cl_device_id device) const {
  auto entry = recorded_entry(m_shared.m_driver, program, device);
  if (!entry.has_value()) {
    m_shared.m_log.write(
        fmt::format("no binary is recorded: {}: {}", entry.error().message, description()));
    return;
  }
  entry->variant = build.names.variant;
  entry->options = build.options;
  build.entries.push_back(*std::move(entry));
}

std::optional<RecordedBuild> ServedBuild::recorded_build(cl_program program) const {
  // A bundle does not record the values of specialization constants.
  if (m_program->program().empty() || m_has_constants) {
    return std::nullopt;
  }
  const LayerSettings& settings = m_shared.m_settings;
  RecordedBuild build;
  build.names = {m_program->program(), m_program->variant()};
  build.kernel = kernel_in_parentheses(*m_tracked);
  build.options = m_program->normalized_options();
  if (settings.source == Recorded::yes && !m_program->package().main.text.empty()) {
    build.source = closure::without_paths(m_program->package());
  }
  const std::vector<std::string> names = sorted_kernel_names(m_shared.m_driver, program);
  for (const cl_device_id device : m_devices) {
    auto identity = opencl::query_identity(m_shared.m_driver, device);
    if (identity.has_value()) {
      format::Target target;
      target.identity = *std::move(identity);
      build.builds.push_back({build.names.variant, std::move(target), names});
    }
    if (settings.binaries == Recorded::yes) {
      add_recorded_entry(build, program, device);
    }
  }
  return build;
}

} // namespace clbin::layer
