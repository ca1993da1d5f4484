#include "compile.hpp"

#include "build_log/diagnostics.hpp"
#include "bundles/bundle_change.hpp"
#include "cache/recipes.hpp"
#include "compile/compile_job.hpp"
#include "compile/compile_steps.hpp"
#include "input/bundle_file.hpp"
#include "input/input_files.hpp"
#include "output/compile_output.hpp"
#include "output/launchers.hpp"
#include "output/output_plan.hpp"
#include "plan/unit_plan.hpp"
#include "remote/remote_cache.hpp"
#include "targets/machine_description.hpp"
#include "targets/patterns.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"
#include "worker/driver_compiler.hpp"
#include "worker/installed_devices.hpp"

namespace oclcc {

using worker::DeviceDescription;

namespace {

// -Werror makes this warning an error, too.
AbsentVariants absent_variants(const Options& options) {
  return warning_policy(options.driver_options) == WarningPolicy::make_errors
             ? AbsentVariants::refuse
             : options.absent_variants;
}

// The devices with a compiler. Lists each identity once, because the loader cannot distinguish
// equal ones.
Result<std::vector<DeviceDescription>> usable_devices(std::vector<DeviceDescription> candidates,
                                                      Reporter& reporter) {
  std::vector<DeviceDescription> usable;
  for (DeviceDescription& device : candidates) {
    const std::string& name = device.identity.device_name;
    if (!device.compiler_available) {
      reporter.note(fmt::format("'{}' is skipped: its driver has no compiler", name));
      continue;
    }
    const bool known =
        std::ranges::find(usable, device.identity, &DeviceDescription::identity) != usable.end();
    if (known) {
      reporter.verbose(
          fmt::format("{}:{} '{}' is identical to an earlier device: both use the same entries",
                      device.platform, device.device, name));
      continue;
    }
    usable.push_back(std::move(device));
  }
  if (usable.empty()) {
    return fail(ErrorCode::no_device, "no device has a compiler");
  }
  return usable;
}

Result<std::vector<DeviceDescription>> choose_devices(const OutputPlan& output,
                                                      const Options& options,
                                                      const std::vector<DeviceDescription>& all,
                                                      Reporter& reporter) {
  CLBIN_TRY_ASSIGN(auto selected, select_devices(all, options.device_patterns));
  CLBIN_TRY_ASSIGN(auto fitting, devices_for_output(output, options, std::move(selected)));
  return usable_devices(std::move(fitting), reporter);
}

// Returns why neither cache is used; empty if both may be.
std::string why_no_cache(const Job& job, const Options& options) {
  if (options.cache == CachePolicy::ignore) {
    return "--no-cache was given";
  }
  if (options.signing.is_requested()) {
    return "who can write it must not choose what is signed";
  }
  return job.encryption ? "it would contain the kernels of an encrypted bundle" : "";
}

// Returns the settings of this run. The encryption of `job` must be known.
clbin::cache::CacheSettings cache_of_run(const Job& job, const Options& options,
                                         clbin::cache::CacheSettings settings) {
  if (std::string why_off = why_no_cache(job, options); !why_off.empty()) {
    settings = {};
    settings.why_off = std::move(why_off);
  }
  // By then, another process that builds the same unit has finished or failed.
  settings.wait_limit = std::chrono::seconds(options.timeout_seconds);
  return settings;
}

// Returns null if no remote cache is used.
std::unique_ptr<RemoteStore> open_remote_cache(const Job& job, const Options& options,
                                               const remote::RemoteSettings& settings,
                                               Reporter& reporter) {
  if (!why_no_cache(job, options).empty()) {
    return nullptr;
  }
  for (const std::string& problem : settings.problems) {
    reporter.warning("remote cache: " + problem);
  }
  if (settings.use == remote::RemoteUse::off) {
    if (!settings.why_off.empty()) {
      reporter.verbose("remote cache: off: " + settings.why_off);
    }
    return nullptr;
  }
  if (const auto variable = unshared_variable(process_environment())) {
    reporter.verbose(fmt::format("remote cache: off: {} loads libraries that may differ on other "
                                 "machines",
                                 *variable));
    return nullptr;
  }
  auto opened = remote::open_remote_cache(settings, clbin::cache::this_process());
  if (!opened) {
    reporter.warning(fmt::format("remote cache: {}; it is not used", opened.error().message));
    return nullptr;
  }
  return *std::move(opened);
}

void warn_of(CompileCache& cache, Reporter& reporter) {
  for (std::string warning = cache.take_warning(); !warning.empty();
       warning = cache.take_warning()) {
    reporter.warning(warning);
  }
}

void build(Job& job, const Options& options, const worker::WorkerSettings& workers,
           CompileCache& cache, Reporter& reporter) {
  if (!cache.is_on()) {
    reporter.verbose(fmt::format("compile cache: off: {}", cache.why_off()));
  }
  build_job(job, options, compiler_facts(workers), workers.executable, cache, reporter);
  warn_of(cache, reporter);
  read_build_logs(job);
}

// Prints the error of a run, if there is one. A run that has failed without an error has said why.
ExitCode finish_run(const Result<ExitCode>& run, Reporter& reporter) {
  if (run) {
    return *run;
  }
  reporter.error(run.error());
  return exit_code_of(run.error().code);
}

// The outputs of a run, planned before reading anything.
struct Outputs {
  OutputPlan plan;
  std::optional<DepfilePlan> depfile;
  // Of the input bundles. The output has none of them.
  std::vector<format::TrailingRecord> input_signatures{};

  [[nodiscard]] std::vector<std::filesystem::path> paths() const {
    std::vector<std::filesystem::path> result = {plan.path};
    if (plan.embed_header) {
      result.push_back(*plan.embed_header);
    }
    if (depfile) {
      result.push_back(depfile->file);
    }
    return result;
  }
};

using PlanOutput = Result<OutputPlan> (*)(const Options& options);

Result<Outputs> plan_outputs(const Options& options, const Reporter& reporter,
                             PlanOutput plan_output_of) {
  Outputs outputs;
  CLBIN_TRY_ASSIGN(outputs.plan, plan_output_of(options));
  if (options.depfile_mode != DepfileMode::none) {
    CLBIN_TRY_ASSIGN(outputs.depfile, plan_depfile(options, outputs.plan.path));
  }
  CLBIN_TRY(require_other_files(outputs.paths(), trust::files_of_keys(options)));
  const bool is_text = outputs.plan.raw_kind == format::BinaryKind::ptx ||
                       outputs.plan.form == OutputForm::embedding ||
                       outputs.plan.form == OutputForm::launchers;
  if (options.goal == CompileGoal::output && outputs.plan.path == "-" && !is_text &&
      reporter.prints_to_terminal()) {
    return fail(
        ErrorCode::invalid_argument,
        "cannot write a binary to a terminal: redirect standard output or name a file with -o");
  }
  return outputs;
}

std::vector<std::filesystem::path> paths_of(const std::vector<Input>& inputs) {
  std::vector<std::filesystem::path> paths;
  paths.reserve(inputs.size());
  for (const Input& input : inputs) {
    paths.push_back(input.path);
  }
  return paths;
}

// Writes launchers of bundles, or one embedded bundle. Compiles nothing. The rule of -MD names the
// bundles.
Result<void> write_from_bundles(const Outputs& outputs, const Options& options,
                                const BundleKeys& keys, Reporter& reporter) {
  const std::vector<std::filesystem::path> files = paths_of(options.inputs);
  CLBIN_TRY(require_other_files(outputs.paths(), files));
  std::optional<DependencyRule> rule;
  if (outputs.depfile) {
    CLBIN_TRY_ASSIGN(std::string text, dependency_rule(*outputs.depfile, files, options.inputs));
    rule = DependencyRule{outputs.depfile->file, std::move(text)};
  }
  base::Bytes bundle;
  std::string launchers;
  const bool are_launchers =
      outputs.plan.form == OutputForm::launchers && are_bundles(options.inputs);
  if (are_launchers) {
    CLBIN_TRY_ASSIGN(launchers, launchers_of_bundles(options.inputs, keys, reporter));
  } else {
    CLBIN_TRY_ASSIGN(bundle, read_bundle_to_embed(options, *bundle_among(options.inputs), keys));
  }
  CLBIN_TRY_ASSIGN(OutputWriter writer,
                   OutputWriter::open(outputs.plan, std::move(rule), options.goal));
  return writer.write([&](base::OutputFile& output) {
    return are_launchers ? output.append(base::as_bytes(launchers))
                         : write_embedding_files(outputs.plan, bundle, output, reporter);
  });
}

// Called before compiling, to find unwritable outputs early.
Result<OutputWriter> open_outputs(const Outputs& outputs, const Job& job, const Options& options) {
  std::optional<DependencyRule> rule;
  if (outputs.depfile) {
    CLBIN_TRY_ASSIGN(std::string text, rule_of(*outputs.depfile, job, options));
    rule = DependencyRule{outputs.depfile->file, std::move(text)};
  }
  return OutputWriter::open(outputs.plan, std::move(rule), options.goal);
}

// Makes targets of the devices of other machines, which are not compiled for here.
Result<void> plan_machine_targets(Job& job, const OutputPlan& output, const Options& options,
                                  Reporter& reporter) {
  std::vector<DeviceDescription> all;
  for (std::size_t machine = 0; machine < options.machines.size(); ++machine) {
    CLBIN_TRY_ASSIGN(auto devices, read_machine(options.machines[machine]));
    for (std::size_t device = 0; device < devices.size(); ++device) {
      devices[device].platform = static_cast<std::uint32_t>(machine);
      devices[device].device = static_cast<std::uint32_t>(device);
      all.push_back(std::move(devices[device]));
    }
  }
  CLBIN_TRY_ASSIGN(const auto devices, choose_devices(output, options, all, reporter));
  job.targets = device_targets(devices);
  return {};
}

// Makes targets of the devices, which their drivers compile for.
Result<void> plan_device_targets(Job& job, const OutputPlan& output, const Options& options,
                                 const worker::WorkerSettings& settings, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(auto installed,
                   worker::find_installed_devices(settings, worker::PropertyQuery::skip));
  for (const std::string& failure : installed.failures) {
    reporter.warning(failure);
  }
  report_text("while listing devices, drivers printed", installed.driver_output, reporter);
  CLBIN_TRY_ASSIGN(auto devices, choose_devices(output, options, installed.devices, reporter));
  job.targets = device_targets(devices);
  job.compilers.push_back(std::make_shared<worker::DriverCompiler>(
      settings, std::move(devices), std::move(installed.workers),
      std::chrono::seconds(options.timeout_seconds)));
  return {};
}

// Modules are compiled already, and --source-only compiles nothing. --target alone starts no
// driver. With --device, too, a bundle has entries of both.
Result<void> plan_targets(Job& job, const OutputPlan& output, const Options& options,
                          const worker::WorkerSettings& settings,
                          const clbin::cache::CacheSettings& cache, Reporter& reporter) {
  CLBIN_TRY(check_offline_options(options));
  if (options.binaries == BinaryPolicy::none || job.programs.empty()) {
    return {};
  }
  if (!options.machines.empty()) {
    CLBIN_TRY(plan_machine_targets(job, output, options, reporter));
  } else if (options.targets.empty() || !options.device_patterns.empty()) {
    CLBIN_TRY(plan_device_targets(job, output, options, settings, reporter));
  }
  return add_offline_targets(job, options, settings, cache);
}

// Adds the targets that are made of others, then the options of every target.
Result<void> plan_further_targets(Job& job, const OutputPlan& output, const Options& options,
                                  const worker::WorkerSettings& settings) {
  if (options.cubin == CubinPolicy::emit || output.raw_kind == format::BinaryKind::cubin) {
    CLBIN_TRY(add_cubin_targets(job, settings, std::chrono::seconds(options.timeout_seconds)));
  }
  if (!options.unit) {
    return add_device_options(options, job.targets, job.variants);
  }
  add_device_options_of_unit(options, job.targets, job.variants);
  return plan::keep_unit(job, options, compiler_facts(settings), *options.unit);
}

// Both kinds of inputs are read, so that one run reports the errors of all.
ExitCode read_inputs(const Options& options, std::span<const std::filesystem::path> outputs,
                     Reporter& reporter, Job& job) {
  const ExitCode sources = read_programs(options, outputs, reporter, job.programs);
  const ExitCode modules = read_il_modules(options, outputs, reporter, job.modules);
  return sources != ExitCode::success ? sources : modules;
}

// -M starts no driver.
Result<ExitCode> write_rule_only(const Options& options, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const DepfilePlan plan, plan_rule_only(options));
  Job job;
  if (const ExitCode status = read_inputs(options, {&plan.file, 1}, reporter, job);
      status != ExitCode::success) {
    return status;
  }
  CLBIN_TRY_ASSIGN(const std::string rule, rule_of(plan, job, options));
  CLBIN_TRY(base::write_output_file(plan.file, std::as_bytes(std::span(rule))));
  return ExitCode::success;
}

// Writes the bundle of the job with the entries of `newer`.
Result<void> write_rebuilt(const Job& job, const BundleOfUnits& newer, OutputWriter& writer,
                           SourcePolicy source, CompileCache& cache, Reporter& reporter) {
  return writer.write([&](base::OutputFile&) -> Result<void> {
    base::Bytes bytes;
    const auto append = [&bytes](base::ByteView part) -> Result<void> {
      bytes.insert(bytes.end(), part.begin(), part.end());
      return {};
    };
    CLBIN_TRY_ASSIGN(const std::string note,
                     cache.finish_bundle(newer, {.spill = job.spill}, append));
    if (!note.empty()) {
      reporter.verbose("bundle: " + note);
    }
    CLBIN_TRY_ASSIGN(auto rebuilt, replace_entries(*job.bundle, bytes, source,
                                                   trust::pointer_to(job.encryption)));
    return writer.append_bundle(std::move(rebuilt), reporter);
  });
}

format::WriteOptions write_options(Job& job) {
  return {.spill = job.spill,
          .sources = [sources = std::shared_ptr<SourceCompression>(std::move(job.sources))] {
            return sources ? sources->finish() : nullptr;
          }};
}

Result<ExitCode> write_results(Job& job, const OutputPlan& plan, const Options& options,
                               OutputWriter& writer, CompileCache& cache, Reporter& reporter) {
  const BundleOfUnits bundle = make_bundle(job, job.bundle ? SourcePolicy::drop : options.source);
  if (bundle.input.programs.empty()) {
    return ExitCode::compile_failed;
  }
  const auto written = job.bundle && plan.form == OutputForm::bundle
                           ? write_rebuilt(job, bundle, writer, options.source, cache, reporter)
                           : writer.write(bundle, write_options(job), cache, reporter);
  warn_of(cache, reporter);
  CLBIN_TRY(written);
  return ExitCode::success;
}

// Before anything is compiled, so that a missing key is found early.
Result<void> read_encryption(const Options& options, Job& job, OutputWriter& writer,
                             Reporter& reporter) {
  if (options.encryption.is_requested() && options.goal == CompileGoal::output) {
    CLBIN_TRY_ASSIGN(const auto request, trust::EncryptionRequest::read(options, reporter));
    CLBIN_TRY_ASSIGN(job.encryption, request.encryption());
  }
  writer.encrypt_with(job.encryption);
  return {};
}

// Likewise, with a wrong passphrase.
Result<void> open_signer(const Options& options, const std::stop_token& stop, OutputWriter& writer,
                         Reporter& reporter) {
  if (options.signing.is_requested() && options.goal == CompileGoal::output) {
    CLBIN_TRY_ASSIGN(trust::BundleSigner signer, trust::BundleSigner::open(options, stop));
    for (const std::string& warning : signer.warnings()) {
      reporter.warning(warning);
    }
    writer.sign_with(std::move(signer));
  }
  return {};
}

void note_removed_signatures(const Outputs& outputs, const OutputWriter& writer,
                             Reporter& reporter) {
  const auto& signer = writer.signer();
  const bool all_replaced =
      std::ranges::all_of(outputs.input_signatures, [&](const format::TrailingRecord& record) {
        return signer && signer->writes_like(record);
      });
  if (!all_replaced) {
    reporter.note(fmt::format("{}: {}", bundle_name(outputs.plan.path),
                              signer ? k_other_signatures_removed : k_signatures_removed));
  }
}

// Returns null if the output contains no source that is known now.
std::unique_ptr<SourceCompression> compression_of_sources(const Job& job, const OutputPlan& plan,
                                                          const Options& options) {
  const bool has_bundle = plan.form == OutputForm::bundle || plan.form == OutputForm::embedding;
  if (!has_bundle || job.bundle || options.source == SourcePolicy::drop ||
      options.goal != CompileGoal::output) {
    return nullptr;
  }
  std::vector<std::shared_ptr<const format::SourcePackage>> sources;
  for (const Program& program : job.programs) {
    sources.push_back(program.source);
  }
  return std::make_unique<SourceCompression>(std::move(sources));
}

// The second half of a compile: the targets are known, and nothing is built yet.
Result<ExitCode> build_and_write(CompileCache& cache, Job& job, const Outputs& outputs,
                                 OutputWriter& writer, const Options& options,
                                 const worker::WorkerSettings& workers, Reporter& reporter) {
  // While compilers work, other threads compress the sources for the bundle.
  job.sources = compression_of_sources(job, outputs.plan, options);

  // Units are looked up in the caches, and what is missing is built: by drivers, in workers, and by
  // the programs of offline targets. Build logs become diagnostics.
  build(job, options, workers, cache, reporter);
  if (workers.stop.stop_requested()) {
    return ExitCode::compile_failed; // the process is ending: no compiler has failed
  }

  // Failures are reported, all of them. They end the run, unless the user wants what was built.
  const bool all_built = report_results(job, reporter);
  note_first_launches(job, reporter);
  if (!all_built && options.failure == FailurePolicy::stop) {
    return ExitCode::compile_failed;
  }
  if (!all_built && outputs.plan.raw_kind == format::BinaryKind::cubin) {
    return ExitCode::compile_failed; // the PTX, which may be left, is not what was asked for
  }
  // Only now are the kernels known that --specialize names, which may be in another unit.
  if (all_built && !options.unit) {
    CLBIN_TRY(require_specialized_kernels(job));
  }

  // One bundle is made of the results, or of the input bundle and them, and appears under its name
  // when it is complete; or one raw binary, or what embeds a bundle.
  CLBIN_TRY_ASSIGN(const ExitCode status,
                   write_results(job, outputs.plan, options, writer, cache, reporter));
  if (status != ExitCode::success) {
    return status;
  }
  note_removed_signatures(outputs, writer, reporter);
  if (job.plain_inputs_note) {
    reporter.note(fmt::format("{}: {}", bundle_name(outputs.plan.path), *job.plain_inputs_note));
  }
  return all_built ? ExitCode::success : ExitCode::compile_failed;
}

// Prints why there are no targets, and what helps on a machine without a device.
ExitCode explain_targets(const Error& error, const Options& options, Reporter& reporter) {
  const ExitCode status = finish_run(tl::unexpected(error), reporter);
  if (error.code == ErrorCode::no_device && options.targets.empty() &&
      options.device_patterns.empty()) {
    reporter.explain("'--target' compiles without a device, for the targets of '--list-targets'; "
                     "'--source-only' writes a bundle of the sources");
  }
  return status;
}

// The first half: `job` has its programs and variants.
Result<ExitCode> compile_job(Job& job, const Outputs& outputs, const Options& options,
                             const worker::WorkerSettings& workers, const Caches& caches,
                             Reporter& reporter) {
  // What is written is opened, and keys are read, before anything is compiled: a folder that does
  // not exist, or a wrong passphrase, is found at once.
  CLBIN_TRY_ASSIGN(OutputWriter writer, open_outputs(outputs, job, options));
  CLBIN_TRY(read_encryption(options, job, writer, reporter));
  CLBIN_TRY(open_signer(options, workers.stop, writer, reporter));

  // Which caches may be used depends on what is signed and encrypted.
  std::unique_ptr<RemoteStore> remote;
  if (options.goal == CompileGoal::output) {
    remote = open_remote_cache(job, options, caches.remote, reporter);
  }
  job.contents = remote ? std::make_shared<ContentDigests>(caches.local) : nullptr;
  const auto settings = cache_of_run(job, options, caches.local);

  // What is compiled for: the devices that a worker lists, those of other machines, and offline
  // targets.
  if (const auto planned = plan_targets(job, outputs.plan, options, workers, settings, reporter);
      !planned) {
    return explain_targets(planned.error(), options, reporter);
  }
  if (options.goal == CompileGoal::preview) { // -###
    CLBIN_TRY(add_device_options(options, job.targets, job.variants));
    reporter.plain(preview_of(job, options, outputs.plan));
    return ExitCode::success;
  }
  // Targets that are made of others (cubins), and the options of each target.
  CLBIN_TRY(plan_further_targets(job, outputs.plan, options, workers));

  // A unit is now a program, a variant and a target.
  CLBIN_TRY_ASSIGN(job.spill, base::SpillFile::create(workers.home->path()));
  CompileCache cache(settings, file_stamp(workers.executable), std::move(remote));
  auto status = build_and_write(cache, job, outputs, writer, options, workers, reporter);
  cache.finish();
  warn_of(cache, reporter);
  return status;
}

// Called before the output replaces an input.
std::vector<format::TrailingRecord> input_signatures(const Options& options,
                                                     const OutputPlan& output) {
  std::vector<format::TrailingRecord> records;
  const bool can_be_signed =
      output.form == OutputForm::bundle || output.form == OutputForm::embedding;
  if (can_be_signed && options.goal == CompileGoal::output) {
    for (const Input& input : options.inputs) {
      const auto found = signatures_in(input.path);
      records.insert(records.end(), found.begin(), found.end());
    }
  }
  return records;
}

// A device binary cannot be encrypted.
Result<void> keep_encrypted(const Job& job, const OutputPlan& plan, const Options& options) {
  if (!job.encryption || plan.form != OutputForm::raw_binary) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              "'{}' would not be encrypted, but {} is: compile what '--decrypt' makes of it",
              plan.path.string(),
              options.inputs.size() > 1 ? "an input"
                                        : fmt::format("'{}'", options.inputs[0].path.string()));
}

// Builds the programs of the input bundles anew.
Result<ExitCode> rebuild_bundle(Outputs outputs, const Options& options,
                                const worker::WorkerSettings& settings, const Caches& caches,
                                Reporter& reporter) {
  if (outputs.depfile) {
    CLBIN_TRY(require_other_files({&outputs.depfile->file, 1}, paths_of(options.inputs)));
  }
  Job job;
  job.absent_variants = options.absent_variants;
  job.specializations = options.specializations;
  // Before keys are read: its guard has none.
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  CLBIN_TRY(read_recorded_programs(options, keys, job, reporter));
  CLBIN_TRY(keep_encrypted(job, outputs.plan, options));
  outputs.input_signatures = input_signatures(options, outputs.plan);
  return compile_job(job, outputs, options, workers, caches, reporter);
}

Result<ExitCode> use_bundle(const std::filesystem::path& bundle, const Options& options,
                            const worker::WorkerSettings& settings, const Caches& caches,
                            Reporter& reporter) {
  const auto use = use_of_bundle(options, bundle);
  if (use && *use == BundleUse::convert) { // starts no driver
    CLBIN_TRY_ASSIGN(const Outputs outputs, plan_outputs(options, reporter, plan_output));
    CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
    CLBIN_TRY(write_from_bundles(outputs, options, keys, reporter));
    return ExitCode::success;
  }
  auto outputs = use ? plan_outputs(options, reporter, plan_output_of_bundles)
                     : Result<Outputs>(tl::unexpected(use.error()));
  if (!outputs) {
    const ExitCode status = finish_run(tl::unexpected(outputs.error()), reporter);
    explain_bundle_input(bundle, options, reporter);
    return status;
  }
  return rebuild_bundle(*std::move(outputs), options, settings, caches, reporter);
}

Result<void> check_programs(const Options& options) {
  std::vector<std::string> names;
  for (const Input& input : options.inputs) {
    names.push_back(input.program);
  }
  return check_optional_programs(options, names);
}

Result<void> write_plan_of(Job& job, const OutputPlan& output, const Options& options,
                           const worker::WorkerSettings& settings,
                           const clbin::cache::CacheSettings& cache_settings, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  const auto cache_of_plan = cache_of_run(job, options, cache_settings);
  CLBIN_TRY(plan_targets(job, output, options, workers, cache_of_plan, reporter));
  CLBIN_TRY(plan_further_targets(job, output, options, workers));
  job.compilers.clear(); // ends the workers that have listed the devices
  CLBIN_TRY_ASSIGN(job.spill, base::SpillFile::create(workers.home->path()));
  CompileCache cache(cache_of_plan, file_stamp(workers.executable));
  CLBIN_TRY_ASSIGN(const plan::Plan plan,
                   plan::make_plan(job, options, output.path, compiler_facts(workers), cache));
  warn_of(cache, reporter);
  CLBIN_TRY_ASSIGN(const std::string file, plan::write_plan(plan, job, options));
  reporter.note(fmt::format("{}: {} unit{} to build; {} in the compile cache", file,
                            plan.units.size(), plan.units.size() == 1 ? "" : "s", plan.cached));
  return {};
}

Result<OutputPlan> plan_planned_output(const Options& options) {
  CLBIN_TRY_ASSIGN(OutputPlan output, plan_output(options));
  if (output.form != OutputForm::bundle || output.path == "-") {
    return fail(ErrorCode::invalid_argument,
                "'--plan' makes a bundle in a file, and '{}' is not one; a further command can "
                "convert the bundle",
                output.path.string());
  }
  return output;
}

Result<ExitCode> plan_compile_of(const Options& options, const worker::WorkerSettings& settings,
                                 const clbin::cache::CacheSettings& cache_settings,
                                 Reporter& reporter) {
  if (const auto bundle = bundle_among(options.inputs)) {
    return fail(ErrorCode::invalid_argument, "'--plan' requires sources, and '{}' is a bundle",
                bundle->string());
  }
  CLBIN_TRY(check_programs(options));
  CLBIN_TRY_ASSIGN(const OutputPlan output, plan_planned_output(options));
  Job job;
  job.variants = read_variants(options);
  job.specializations = options.specializations;
  if (const ExitCode status = read_inputs(options, {&output.path, 1}, reporter, job);
      status != ExitCode::success) {
    return status;
  }
  CLBIN_TRY(write_plan_of(job, output, options, settings, cache_settings, reporter));
  return ExitCode::success;
}

// The whole story: from the words of the command line, which `options` are, to bytes in a file.
// Errors are printed at its end; diagnostics of compilers, where they are known.
Result<ExitCode> compile_inputs(const Options& options, const worker::WorkerSettings& settings,
                                const Caches& caches, Reporter& reporter) {
  // Bundles are converted, or their programs are built anew, which is the same story from
  // compile_job on.
  if (const auto bundle = bundle_among(options.inputs)) {
    return use_bundle(*bundle, options, settings, caches, reporter);
  }
  if (!options.decrypt_keys.empty()) {
    return fail(ErrorCode::invalid_argument, "'--decrypt-key' is for bundles, but no input is one");
  }
  CLBIN_TRY(check_programs(options));
  if (options.depfile_mode == DepfileMode::instead) { // -M
    return write_rule_only(options, reporter);
  }

  // The names of the outputs are known before anything is read: none may be an input.
  CLBIN_TRY_ASSIGN(const Outputs outputs, plan_outputs(options, reporter, plan_output));

  // Each input is a program, with the headers that it includes, or a module of IL; each variant, a
  // set of options.
  Job job;
  job.absent_variants = absent_variants(options);
  job.variants = read_variants(options);
  job.specializations = options.specializations;
  if (const ExitCode status = read_inputs(options, outputs.paths(), reporter, job);
      status != ExitCode::success) {
    return status;
  }
  if (options.binaries == BinaryPolicy::none) { // --source-only
    for (Program& program : job.programs) {
      program.need = ProgramNeed::optional; // its variants have no entries
    }
  }

  // Compilers get a private folder, and a guard that removes it. Before keys are read: the guard
  // has none.
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  return compile_job(job, outputs, options, workers, caches, reporter);
}

} // namespace

ExitCode plan_compile(const Options& options, const worker::WorkerSettings& settings,
                      const clbin::cache::CacheSettings& cache_settings, Reporter& reporter) {
  return finish_run(plan_compile_of(options, settings, cache_settings, reporter), reporter);
}

ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                 const Caches& caches, Reporter& reporter) {
  return finish_run(compile_inputs(options, settings, caches, reporter), reporter);
}

} // namespace oclcc
