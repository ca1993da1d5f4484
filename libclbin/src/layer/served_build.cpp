#include "layer/served_build.hpp"

#include "closure/include_closure.hpp"
#include "format/binary/binary_kernels.hpp"

namespace clbin::layer {

namespace {

std::vector<std::string> sorted_kernel_names(const opencl::Driver& driver, cl_program program) {
  auto names = opencl::program_kernel_names(driver, program).value_or(std::vector<std::string>());
  std::ranges::sort(names);
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

base::Result<format::EntryInput> recorded_entry(const ServedBuild& build, cl_program built,
                                                cl_device_id device) {
  const opencl::Driver& driver = build.layer.driver;
  format::EntryInput entry;
  entry.variant = build.program->variant();
  entry.options = build.program->normalized_options();
  CLBIN_TRY_ASSIGN(entry.target.identity, opencl::query_identity(driver, device));
  CLBIN_TRY_ASSIGN(entry.payload, opencl::program_binary(driver, built, device));
  entry.kernels = recorded_kernels(driver, built, device, entry.target.identity);
  entry.build_log = opencl::build_log(driver, built, {device});
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

loader::RunTimeRequest request_of(const ServedBuild& build) {
  const Mode mode = build.layer.settings.mode;
  loader::RunTimeRequest request;
  if (build.tracked.il.empty()) {
    request.source.strings = {build.tracked.text};
  } else {
    request.source.il = build.tracked.il;
  }
  request.source.options = build.options;
  for (const auto& [id, value] : build.arguments.constants) {
    request.source.constants.push_back({id, value});
  }
  request.devices = build.arguments.devices;
  // Queries of arguments must be answered although binaries do not contain the answers.
  request.kernels = loader::KernelDetail::arguments;
  request.fallback =
      mode == Mode::serve ? loader::FallbackPolicy::never : loader::FallbackPolicy::if_needed;
  request.detail = mode == Mode::strict || build.layer.log.is_on()
                       ? loader::ReportDetail::every_entry
                       : loader::ReportDetail::attempts_only;
  request.bundle_il = mode == Mode::strict ? loader::BundleIl::ignored : loader::BundleIl::built;
  return request;
}

base::Result<void> begin(ServedBuild& build, const std::string& options) {
  build.report = {};
  build.options = options;
  CLBIN_TRY_ASSIGN(build.program, loader::RunTimeProgram::begin(
                                      build.layer.driver, build.layer.builder,
                                      build.tracked.context, request_of(build), build.report));
  return {};
}

} // namespace

std::string kernel_in_parentheses(const TrackedProgram& program) {
  if (!program.label.empty()) {
    return fmt::format(" (label '{}')", program.label);
  }
  const std::string name = first_kernel_name(program);
  return name.empty() ? "" : fmt::format(" (kernel '{}')", name);
}

base::Result<std::unique_ptr<ServedBuild>>
ServedBuild::prepare(Layer& layer, const TrackedProgram& program, BuildArguments arguments) {
  std::unique_ptr<ServedBuild> build(new ServedBuild{layer, program, std::move(arguments)});
  const std::string& given = build->arguments.options;
  CLBIN_TRY(begin(*build, given));
  if (layer.settings.rules.empty()) {
    return build; // without the digest of the source, which takes time and may never be needed
  }
  const std::string changed =
      apply_rules(layer.settings.rules, {build->program->program(), program.text}, given);
  if (changed != given) {
    CLBIN_TRY(begin(*build, changed));
  }
  return build;
}

std::string ServedBuild::description() const {
  std::string devices;
  for (const cl_device_id device : arguments.devices) {
    devices += fmt::format(
        "{}'{}'", devices.empty() ? "" : ", ",
        opencl::device_text(layer.driver, device, CL_DEVICE_NAME).value_or(std::string()));
  }
  const std::string& name = program->program();
  return fmt::format("program {}{} with options '{}' for {}", name.empty() ? "(no digest)" : name,
                     kernel_in_parentheses(tracked), options, devices);
}

std::string ServedBuild::key() const {
  return program->program() + " " + program->normalized_options();
}

std::string ServedBuild::why_not() const {
  const std::string& why_not_keyed = program->why_not_keyed();
  std::string text = why_not_keyed;
  if (!arguments.constants.empty() && layer.settings.mode == Mode::record) {
    text = "it has specialization constants";
  }
  const auto add = [&text](const std::string& reason) {
    if (!reason.empty() && text.find(reason) == std::string::npos) {
      text += (text.empty() ? "" : "; ") + reason;
    }
  };
  const LayerSettings& settings = layer.settings;
  bool has_entry = false; // of a bundle
  for (const loader::Attempt& attempt : report.attempts) {
    has_entry |= attempt.rule != loader::Rule::user_cache && attempt.rule != loader::Rule::none;
  }
  if (text.empty() && !has_entry && settings.mode != Mode::record) {
    add(settings.bundles.empty() ? "" : "no bundle contains it with these options");
  }
  for (const loader::Attempt& attempt : report.attempts) {
    const bool is_told = !why_not_keyed.empty() && attempt.reason.ends_with(why_not_keyed);
    if (attempt.decision != loader::Decision::loaded && !is_told) {
      add(reason_of(attempt));
    }
  }
  for (const std::string& warning : report.warnings) {
    add(warning);
  }
  return text;
}

std::string_view ServedBuild::outcome() const noexcept {
  switch (report.origin) {
  case loader::Origin::user_cache:
    return "served from the user cache";
  case loader::Origin::il:
    return "built from the IL of a bundle";
  default:
    return "served from a bundle";
  }
}

void ServedBuild::keep(cl_program built, loader::KeepTime time) {
  report.warnings.clear();
  if (built != nullptr) {
    program->keep(built, time);
  } else {
    program->keep_copy(time);
  }
  // A process that ends without telling its layers must not lose what it has built.
  layer.builder.cache().stores.drain();
  for (const std::string& warning : report.warnings) {
    layer.log.write(fmt::format("not kept: {}: {}", warning, description()));
  }
}

std::optional<RecordedBuild> ServedBuild::recorded_build(cl_program built) const {
  // A bundle does not record the values of specialization constants.
  if (program->program().empty() || !arguments.constants.empty()) {
    return std::nullopt;
  }
  RecordedBuild build;
  build.kernel = kernel_in_parentheses(tracked);
  build.program.name = program->program();
  build.program.variants.push_back({program->variant(), program->normalized_options()});
  if (layer.settings.records_source && !program->package().main.text.empty()) {
    build.program.source = closure::without_paths(program->package());
    if (!tracked.label.empty()) {
      build.program.source->main.display_name = tracked.label;
    }
  }
  const std::vector<std::string> names = sorted_kernel_names(layer.driver, built);
  for (const cl_device_id device : arguments.devices) {
    auto identity = opencl::query_identity(layer.driver, device);
    if (identity.has_value()) {
      format::Target target;
      target.identity = *std::move(identity);
      build.program.builds.push_back({program->variant(), std::move(target), names});
    }
    if (!layer.settings.records_binaries) {
      continue;
    }
    if (auto entry = recorded_entry(*this, built, device); entry.has_value()) {
      build.program.entries.push_back(*std::move(entry));
    } else {
      layer.log.write(
          fmt::format("no binary is recorded: {}: {}", entry.error().message, description()));
    }
  }
  return build;
}

} // namespace clbin::layer
