#include "closure/include_closure.hpp"
#include "format/binary/binary_kernels.hpp"
#include "layer/program_builds.hpp"
#include "source/recorded_names.hpp"

namespace clbin::layer {

namespace {

cache::CacheSettings user_cache_settings(cache::CacheSettings cache,
                                         const LayerSettings& settings) {
  cache.on_pocl = settings.caches_pocl ? cache::CacheOnPocl::yes //
                                       : cache::CacheOnPocl::no;
  if (settings.signatures == SignatureUse::required && !settings.has_unsigned_cache) {
    cache.use = cache::CacheUse::off;
    cache.why_off = "a signature is required, and nobody signs its entries";
  }
  return cache;
}

base::Result<std::shared_ptr<const format::BundleReader>>
open_bundle(const std::filesystem::path& path, const LayerSettings& settings) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  constexpr auto k_refuse = format::TrailingBytes::refuse;
  std::optional<format::SignaturePolicy> required;
  if (settings.signatures == SignatureUse::required) {
    required = format::SignaturePolicy{settings.public_keys, settings.least_counter};
  }
  CLBIN_TRY_ASSIGN(auto reader,
                   format::BundleReader::open(std::move(source), {}, k_refuse, required));
  if (reader.is_encrypted()) {
    return base::fail(base::ErrorCode::encrypted, "it is encrypted, and the layer has no key");
  }
  return std::make_shared<const format::BundleReader>(std::move(reader));
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
  if (!program.label.empty()) {
    return fmt::format(" (label '{}')", program.label);
  }
  const std::string name = first_kernel_name(program);
  return name.empty() ? "" : fmt::format(" (kernel '{}')", name);
}

BuildServices::BuildServices(const cl_icd_dispatch& next, const LayerSettings& given_settings,
                             const LayerLog& given_log, const cache::CacheSettings& cache)
    : driver(driver_of(next).value()), settings(given_settings), log(given_log),
      builder(user_cache_settings(cache, settings), cache, loader::UnsignedSource::built) {
  for (const std::filesystem::path& path : settings.bundles) {
    auto bundle = open_bundle(path, settings);
    if (bundle.has_value()) {
      builder.add_bundle(*std::move(bundle));
    } else {
      report_problem(
          fmt::format("{} is not used: {}", base::in_quotes(path), bundle.error().message));
    }
  }
}

loader::RunTimeRequest ServedBuild::request() const {
  const Mode mode = m_services.settings.mode;
  loader::RunTimeRequest request;
  if (m_tracked.il.empty()) {
    request.source.strings = {m_tracked.text};
  } else {
    request.source.il = m_tracked.il;
  }
  request.source.options = m_options;
  for (const auto& [id, value] : m_arguments.constants) {
    request.source.constants.push_back({id, value});
  }
  request.devices = m_arguments.devices;
  // Queries of arguments must be answered although binaries do not contain the answers.
  request.kernels = loader::KernelDetail::arguments;
  request.fallback =
      mode == Mode::serve ? loader::FallbackPolicy::never : loader::FallbackPolicy::if_needed;
  request.detail = mode == Mode::strict || m_services.log.is_on()
                       ? loader::ReportDetail::every_entry
                       : loader::ReportDetail::attempts_only;
  request.bundle_il = mode == Mode::strict ? loader::BundleIl::ignored : loader::BundleIl::built;
  return request;
}

base::Result<void> ServedBuild::begin(const std::string& options) {
  m_report = {};
  m_options = options;
  CLBIN_TRY_ASSIGN(m_program,
                   loader::RunTimeProgram::begin(m_services.driver, m_services.builder,
                                                 m_tracked.context, request(), m_report));
  return {};
}

base::Result<std::unique_ptr<ServedBuild>> ServedBuild::prepare(BuildServices& services,
                                                                const TrackedProgram& program,
                                                                BuildArguments arguments) {
  std::unique_ptr<ServedBuild> build(new ServedBuild(services, program, std::move(arguments)));
  const std::string& options = build->m_arguments.options;
  CLBIN_TRY(build->begin(options));
  if (services.settings.rules.empty()) {
    return build; // without the digest of the source, which takes time and may never be needed
  }
  const std::string changed =
      apply_rules(services.settings.rules, {build->m_program->program(), program.text}, options);
  if (changed != options) {
    CLBIN_TRY(build->begin(changed));
  }
  return build;
}

std::string ServedBuild::description() const {
  std::string devices;
  for (const cl_device_id device : m_arguments.devices) {
    devices += fmt::format(
        "{}'{}'", devices.empty() ? "" : ", ",
        opencl::device_text(m_services.driver, device, CL_DEVICE_NAME).value_or(std::string()));
  }
  const std::string name = m_program->program();
  return fmt::format("program {}{} with options '{}' for {}", name.empty() ? "(no digest)" : name,
                     kernel_in_parentheses(m_tracked), m_options, devices);
}

std::string ServedBuild::key() const {
  return m_program->program() + " " + m_program->normalized_options();
}

std::string ServedBuild::why_not() const {
  const std::string& why_not_keyed = m_program->why_not_keyed();
  std::string text = why_not_keyed;
  if (!m_arguments.constants.empty() && m_services.settings.mode == Mode::record) {
    text = "it has specialization constants";
  }
  const auto add = [&text](const std::string& reason) {
    if (!reason.empty() && text.find(reason) == std::string::npos) {
      text += (text.empty() ? "" : "; ") + reason;
    }
  };
  const LayerSettings& settings = m_services.settings;
  bool has_entry = false; // of a bundle
  for (const loader::Attempt& attempt : m_report.attempts) {
    has_entry |= attempt.rule != loader::Rule::user_cache && attempt.rule != loader::Rule::none;
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

void ServedBuild::keep(cl_program program, loader::KeepTime time) {
  m_report.warnings.clear();
  m_program->keep(program, time);
  finish_keeping();
}

void ServedBuild::finish_keeping() {
  // A process that ends without telling its layers must not lose what it has built.
  m_services.builder.cache().stores.drain();
  for (const std::string& warning : m_report.warnings) {
    m_services.log.write(fmt::format("not kept: {}: {}", warning, description()));
  }
}

void ServedBuild::keep_copy(loader::KeepTime time) {
  m_report.warnings.clear();
  m_program->keep_copy(time);
  finish_keeping();
}

void ServedBuild::add_recorded_entry(RecordedBuild& build, cl_program program,
                                     cl_device_id device) const {
  auto entry = recorded_entry(m_services.driver, program, device);
  if (!entry.has_value()) {
    m_services.log.write(
        fmt::format("no binary is recorded: {}: {}", entry.error().message, description()));
    return;
  }
  const format::VariantInput& variant = build.program.variants.front();
  entry->variant = variant.name;
  entry->options = variant.options;
  build.program.entries.push_back(*std::move(entry));
}

std::optional<RecordedBuild> ServedBuild::recorded_build(cl_program program) const {
  // A bundle does not record the values of specialization constants.
  if (m_program->program().empty() || !m_arguments.constants.empty()) {
    return std::nullopt;
  }
  const LayerSettings& settings = m_services.settings;
  RecordedBuild build;
  build.kernel = kernel_in_parentheses(m_tracked);
  build.program.name = m_program->program();
  build.program.variants.push_back({m_program->variant(), m_program->normalized_options()});
  if (settings.records_source && !m_program->package().main.text.empty()) {
    build.program.source = closure::without_paths(m_program->package());
    if (!m_tracked.label.empty()) {
      build.program.source->main.display_name = m_tracked.label;
    }
  }
  const std::vector<std::string> names = sorted_kernel_names(m_services.driver, program);
  for (const cl_device_id device : m_arguments.devices) {
    auto identity = opencl::query_identity(m_services.driver, device);
    if (identity.has_value()) {
      format::Target target;
      target.identity = *std::move(identity);
      build.program.builds.push_back({m_program->variant(), std::move(target), names});
    }
    if (settings.records_binaries) {
      add_recorded_entry(build, program, device);
    }
  }
  return build;
}

} // namespace clbin::layer
