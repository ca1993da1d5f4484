// Compile::run tells a compile, a sentence a step.
#include "compile.hpp"

#include "compile/compile_output.hpp"
#include "compile/launchers.hpp"
#include "compile/reproduction.hpp"
#include "compile/unit_plan.hpp"
#include "targets/disassembler.hpp"
#include "targets/driver_compiler.hpp"
#include "targets/machine_description.hpp"
#include "targets/patterns.hpp"
#include "terminal/diagnostics.hpp"
#include "trust/bundle_encryption.hpp"

namespace oclcc {

using worker::DeviceDescription;

namespace {

using Paths = std::vector<std::filesystem::path>;

// The devices with a compiler. Lists each identity once, because the loader cannot distinguish
// equal ones.
Result<std::vector<DeviceDescription>> usable_devices(std::vector<DeviceDescription> candidates,
                                                      Reporter& reporter) {
  std::vector<DeviceDescription> usable;
  for (DeviceDescription& device : candidates) {
    const std::string& name = device.identity.device_name;
    if (!device.compiler_available) {
      reporter.note(fmt::format("'{}' is skipped: its driver has no compiler", name));
    } else if (std::ranges::find(usable, device.identity, &DeviceDescription::identity) !=
               usable.end()) {
      reporter.verbose(
          fmt::format("{}:{} '{}' is identical to an earlier device: both use the same entries",
                      device.platform, device.device, name));
    } else {
      usable.push_back(std::move(device));
    }
  }
  if (usable.empty()) {
    return fail(ErrorCode::no_device, "no device has a compiler");
  }
  return usable;
}

// Returns the devices of other machines, which are not compiled for here.
Result<std::vector<DeviceDescription>> devices_of_machines(const Options& options) {
  std::vector<DeviceDescription> all;
  for (std::size_t machine = 0; machine < options.machines.size(); ++machine) {
    CLBIN_TRY_ASSIGN(auto devices, read_machine(options.machines[machine]));
    for (std::size_t device = 0; device < devices.size(); ++device) {
      devices[device].platform = static_cast<std::uint32_t>(machine);
      devices[device].device = static_cast<std::uint32_t>(device);
      all.push_back(std::move(devices[device]));
    }
  }
  return all;
}

bool is_cubin_of_device(const RecordedEntry& entry) {
  return entry.kind == format::BinaryKind::cubin &&
         entry.details->target.origin == format::TargetOrigin::installed_device;
}

// A compile, from the words of the command line, which the options are, to bytes in a file.
class Compile {
public:
  Compile(const Options& options, const worker::WorkerSettings& settings, const Caches& caches,
          Reporter& reporter, worker::InstalledDevices* known_devices)
      : m_options(options), m_workers(settings), m_caches(caches), m_reporter(reporter),
        m_known_devices(known_devices) {
    m_job.specializations = options.specializations;
    // -Werror makes this warning an error, too.
    m_job.absent_variants = warning_policy(options.driver_options) == WarningPolicy::make_errors
                                ? AbsentVariants::refuse
                                : options.absent_variants;
  }

  // Diagnostics of compilers are printed where they are known, and the error by the caller. The
  // only function of oclcc that may have more than 60 lines.
  // NOLINTNEXTLINE(readability-function-size)
  Result<ExitCode> run() {
    // Bundles are converted without a compiler, or their programs are built anew, which is the same
    // story as that of sources. -M and --compile-commands only list what sources need.
    const auto bundle = bundle_among(m_options.inputs);
    const auto use = bundle ? use_of_bundle(m_options, *bundle) : BundleUse::rebuild;
    if (use && *use == BundleUse::convert) {
      return convert_bundles();
    }
    if (!bundle && !m_options.decrypt_keys.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "'--decrypt-key' is for bundles, but no input is one");
    }
    if (!bundle) {
      CLBIN_TRY(check_programs());
    }
    if (!bundle && m_options.compile_commands) {
      CLBIN_TRY(write_compile_commands(m_options));
      return ExitCode::success;
    }
    if (!bundle && m_options.depfile_mode == DepfileMode::instead) {
      return write_rule_only();
    }

    // The names of the outputs are known before anything is read: none may be an input.
    const auto planned =
        use ? plan_outputs(bundle ? plan_output_of_bundles(m_options) : plan_output(m_options))
            : tl::unexpected(use.error());
    if (!planned && bundle) {
      const ExitCode status = report_result(tl::unexpected(planned.error()), m_reporter);
      explain_bundle_input(*bundle, m_options, m_reporter);
      return status;
    }
    CLBIN_TRY(planned);

    // Each input is a program, with the headers that it includes, or a module of IL; each variant,
    // a set of options. Or both are those of the bundle.
    CLBIN_TRY_ASSIGN(const ExitCode read, bundle ? read_bundles() : read_sources());
    if (read != ExitCode::success) {
      return read;
    }

    // What is written is opened, and keys are read, before anything is compiled: a folder that does
    // not exist, or a wrong passphrase, is found at once. Which caches may be used depends on what
    // is signed and encrypted.
    CLBIN_TRY_ASSIGN(OutputWriter writer, open_outputs());
    if ((m_job.remote = open_remote_cache())) {
      m_job.contents = std::make_unique<ContentDigests>(m_caches.local);
    }

    // What is compiled for: the devices that a worker lists, those of other machines, and offline
    // targets; then targets that are made of others (cubins), and the options of each.
    if (const auto targets = plan_targets(); !targets) {
      const ExitCode status = report_result(tl::unexpected(targets.error()), m_reporter);
      if (targets.error().code == ErrorCode::no_device && m_options.targets.empty() &&
          m_options.device_patterns.empty()) {
        m_reporter.explain("'--target' compiles without a device, for the targets of "
                           "'--list-targets'; '--source-only' writes a bundle of the sources");
      }
      return status;
    }
    if (m_options.goal == CompileGoal::preview) { // -###
      CLBIN_TRY(add_device_options(m_options, m_job));
      m_reporter.plain(preview_of(m_job, m_options, m_output));
      return ExitCode::success;
    }
    CLBIN_TRY(plan_further_targets());

    // A unit is now a program, a variant and a target. Units are looked up in the caches, and what
    // is missing is built: by drivers, in workers, and by the programs of offline targets.
    // Meanwhile, other threads compress the sources. Build logs become diagnostics.
    CLBIN_TRY_ASSIGN(m_job.spill, base::SpillFile::create(m_workers.home->path()));
    CompileCache cache(cache_settings(), file_stamp(m_workers.executable));
    const CacheEnd cache_end{*this, cache};
    build(cache);
    if (m_workers.stop.stop_requested()) {
      return ExitCode::compile_failed; // the process is ending: no compiler has failed
    }

    // Failures are reported, all of them. They end the run, unless the user wants what was built;
    // but PTX, which may be left, is no cubin.
    const bool all_built = report_results(m_job, m_reporter);
    note_first_launches(m_job, m_reporter);
    if (!all_built && (m_options.failure == FailurePolicy::stop ||
                       m_output.raw_kind == format::BinaryKind::cubin)) {
      return ExitCode::compile_failed;
    }
    // Only now are the kernels known that --specialize names, which may be in another unit.
    if (all_built && !m_options.unit) {
      CLBIN_TRY(require_specialized_kernels(m_job));
    }

    // One bundle is made of the results, or of the input bundle and them, and appears under its
    // name when it is complete; or one raw binary, or what embeds a bundle.
    const BundleOfUnits made =
        make_bundle(m_job, m_job.bundle ? SourcePolicy::drop : m_options.source);
    if (made.input.programs.empty()) {
      return ExitCode::compile_failed;
    }
    const auto written = write(made, writer, cache);
    warn_of(cache);
    CLBIN_TRY(written);
    note_changes(writer);
    return all_built ? ExitCode::success : ExitCode::compile_failed;
  }

  // --plan: the steps of run() up to the targets. Then what is missing in the cache is planned.
  Result<ExitCode> plan_for_engine() {
    if (const auto bundle = bundle_among(m_options.inputs)) {
      return fail(ErrorCode::invalid_argument, "'--plan' requires sources, and '{}' is a bundle",
                  bundle->string());
    }
    CLBIN_TRY(check_programs());
    CLBIN_TRY_ASSIGN(m_output, plan_output(m_options));
    if (m_output.form != OutputForm::bundle || m_output.path == "-") {
      return fail(ErrorCode::invalid_argument,
                  "'--plan' makes a bundle in a file, and '{}' is not one; a further command can "
                  "convert the bundle",
                  m_output.path.string());
    }
    m_job.variants = read_variants(m_options);
    const ExitCode read = read_inputs(m_options, {&m_output.path, 1}, m_reporter, m_job);
    if (read != ExitCode::success) {
      return read;
    }
    CLBIN_TRY(start_home());
    CLBIN_TRY(plan_targets());
    CLBIN_TRY(plan_further_targets());
    m_job.compilers.clear(); // ends the workers that have listed the devices
    CLBIN_TRY_ASSIGN(m_job.spill, base::SpillFile::create(m_workers.home->path()));
    CompileCache cache(cache_settings(), file_stamp(m_workers.executable));
    CLBIN_TRY_ASSIGN(const plan::Plan plan,
                     plan::make_plan(m_job, m_options, m_output.path,
                                     compiler_facts(m_workers.executable), cache));
    warn_of(cache);
    CLBIN_TRY_ASSIGN(const std::string file, plan::write_plan(plan, m_job, m_options));
    m_reporter.note(fmt::format("{}: {} unit{} to build; {} in the compile cache", file,
                                plan.units.size(), plan.units.size() == 1 ? "" : "s", plan.cached));
    return ExitCode::success;
  }

  // --reproduce: builds what a bundle records, for the targets of its entries and without a cache,
  // and compares.
  Result<ExitCode> reproduce() {
    CLBIN_TRY(start_home());
    CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(m_options, m_reporter));
    CLBIN_TRY(read_recorded_programs(m_options, keys, m_job, m_reporter));
    CLBIN_TRY_ASSIGN(auto entries,
                     named(recorded_entries(*m_job.bundle), m_options.inputs.front().path));
    Options chosen = m_options;
    chosen.targets = reproducible_targets(entries, m_options.tools);
    const bool has_devices = std::ranges::any_of(entries, [](const RecordedEntry& entry) {
      return entry.details->target.origin == format::TargetOrigin::installed_device;
    });
    if (has_devices) {
      CLBIN_TRY(plan_recorded_devices(entries));
    }
    CLBIN_TRY(add_offline_targets(m_job, chosen, m_workers, {}));
    use_recorded_options(entries, m_job);
    CLBIN_TRY_ASSIGN(m_job.spill, base::SpillFile::create(m_workers.home->path()));
    CompileCache cache({}, file_stamp(m_workers.executable));
    build_job(m_job, m_options, compiler_facts(m_workers.executable), m_workers.executable, cache,
              m_reporter);
    if (m_workers.stop.stop_requested()) {
      return ExitCode::compile_failed;
    }
    read_build_logs(m_job);
    return compare_with_recorded(entries, m_job, m_reporter);
  }

private:
  // Ends the caches, whether or not the run succeeds.
  struct CacheEnd {
    Compile& compile;
    CompileCache& cache;
    ~CacheEnd() {
      if (compile.m_job.remote) {
        compile.m_job.remote->finish();
      }
      compile.warn_of(cache);
    }
  };

  void warn_of(CompileCache& cache) {
    const auto& remote = m_job.remote;
    for (const std::string& warning :
         {cache.take_warning(), remote ? remote->take_warning() : std::string()}) {
      if (!warning.empty()) {
        m_reporter.warning(warning);
      }
    }
  }

  [[nodiscard]] bool writes_output() const { return m_options.goal == CompileGoal::output; }
  [[nodiscard]] bool writes_bundle() const {
    return m_output.form == OutputForm::bundle || m_output.form == OutputForm::embedding;
  }

  Paths output_paths() const {
    Paths paths = {m_output.path};
    if (m_output.embed_header) {
      paths.push_back(*m_output.embed_header);
    }
    if (m_depfile) {
      paths.push_back(m_depfile->file);
    }
    return paths;
  }

  Result<void> check_programs() const {
    if (m_options.kernels == KernelChoice::launched) {
      return refused("'--launched-only' requires a recording, and '{}' is none",
                     m_options.inputs.front().path.string());
    }
    std::vector<std::string> names;
    std::ranges::transform(m_options.inputs, std::back_inserter(names), &Input::program);
    return check_optional_programs(m_options, names);
  }

  bool writes_binary_to_terminal() const {
    const bool is_text = m_output.raw_kind == format::BinaryKind::ptx ||
                         m_output.form == OutputForm::embedding ||
                         m_output.form == OutputForm::launchers;
    return writes_output() && m_output.path == "-" && !is_text && m_reporter.prints_to_terminal();
  }

  Result<void> plan_outputs(Result<OutputPlan> planned) {
    CLBIN_TRY_ASSIGN(m_output, std::move(planned));
    if (m_options.depfile_mode != DepfileMode::none) {
      CLBIN_TRY_ASSIGN(m_depfile, plan_depfile(m_options, m_output.path));
    }
    CLBIN_TRY(require_other_files(output_paths(), trust::files_of_keys(m_options)));
    if (writes_binary_to_terminal()) {
      return fail(
          ErrorCode::invalid_argument,
          "cannot write a binary to a terminal: redirect standard output or name a file with -o");
    }
    return {};
  }

  // Writes launchers of bundles, one embedded bundle, or the measurements of one. The rule of -MD
  // names the bundles.
  Result<ExitCode> convert_bundles() {
    CLBIN_TRY(plan_outputs(plan_output(m_options)));
    CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(m_options, m_reporter));
    CLBIN_TRY(require_other_files(output_paths(), input_paths(m_options)));
    base::Bytes bundle;
    std::string launchers;
    const bool are_launchers =
        m_output.form == OutputForm::launchers && are_bundles(m_options.inputs);
    if (are_launchers) {
      CLBIN_TRY_ASSIGN(launchers, launchers_of_bundles(m_options.inputs, keys, m_reporter));
    } else {
      const auto read =
          m_output.form == OutputForm::measurements ? read_measurements : read_bundle_to_embed;
      CLBIN_TRY_ASSIGN(bundle, read(m_options, *bundle_among(m_options.inputs), keys));
    }
    CLBIN_TRY_ASSIGN(OutputWriter writer, open_files());
    CLBIN_TRY(writer.write([&](base::OutputFile& output) {
      if (are_launchers || m_output.form == OutputForm::measurements) {
        return output.append(are_launchers ? base::as_bytes(launchers) : base::ByteView(bundle));
      }
      return write_embedding_files(m_output, bundle, output, m_reporter);
    }));
    return ExitCode::success;
  }

  Result<ExitCode> write_rule_only() {
    CLBIN_TRY_ASSIGN(const DepfilePlan plan, plan_rule_only(m_options));
    const ExitCode status = read_inputs(m_options, {&plan.file, 1}, m_reporter, m_job);
    if (status == ExitCode::success) {
      CLBIN_TRY_ASSIGN(const std::string rule, rule_of(plan, m_job, m_options));
      CLBIN_TRY(base::write_output_file(plan.file, base::as_bytes(rule)));
    }
    return status;
  }

  // Compilers get a private folder, and a guard that removes it. Called before keys are read,
  // because the guard is a fork.
  Result<void> start_home() {
    CLBIN_TRY_ASSIGN(m_workers, worker::with_home(std::move(m_workers)));
    return {};
  }

  Result<ExitCode> read_sources() {
    m_job.variants = read_variants(m_options);
    const ExitCode status = read_inputs(m_options, output_paths(), m_reporter, m_job);
    if (status != ExitCode::success) {
      return status;
    }
    if (m_options.binaries == BinaryPolicy::none) { // --source-only
      for (Program& program : m_job.programs) {
        program.need = ProgramNeed::optional; // its variants have no entries
      }
    }
    CLBIN_TRY(start_home());
    return status;
  }

  Result<ExitCode> read_bundles() {
    if (m_depfile) {
      CLBIN_TRY(require_other_files({&m_depfile->file, 1}, input_paths(m_options)));
    }
    CLBIN_TRY(start_home());
    CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(m_options, m_reporter));
    CLBIN_TRY(read_recorded_programs(m_options, keys, m_job, m_reporter));
    if (m_job.encryption && m_output.form == OutputForm::raw_binary) {
      const auto& inputs = m_options.inputs;
      return fail(ErrorCode::invalid_argument,
                  "'{}' would not be encrypted, but {} is: compile what '--decrypt' makes of it",
                  m_output.path.string(),
                  inputs.size() > 1 ? "an input" : fmt::format("'{}'", inputs[0].path.string()));
    }
    if (writes_bundle() && writes_output()) { // which may replace an input
      for (const Input& input : m_options.inputs) {
        const auto found = signatures_in(input.path);
        m_input_signatures.insert(m_input_signatures.end(), found.begin(), found.end());
      }
    }
    return ExitCode::success;
  }

  Result<OutputWriter> open_files() const {
    std::optional<DependencyRule> rule;
    if (m_depfile) {
      CLBIN_TRY_ASSIGN(std::string text, rule_of(*m_depfile, m_job, m_options));
      rule = DependencyRule{m_depfile->file, std::move(text)};
    }
    return OutputWriter::open(m_output, std::move(rule), m_options.goal);
  }

  Result<OutputWriter> open_outputs() {
    CLBIN_TRY_ASSIGN(OutputWriter writer, open_files());
    if (output_kind(m_options).raw_content == RawContent::assembly) {
      writer.disassemble_with([this](base::ByteView binary) {
        return offline::disassemble(binary, {}, m_options.tools, m_workers,
                                    std::chrono::seconds(m_options.timeout_seconds));
      });
    }
    if (m_options.encryption.is_requested() && writes_output()) {
      CLBIN_TRY_ASSIGN(const auto request, trust::EncryptionRequest::read(m_options, m_reporter));
      CLBIN_TRY_ASSIGN(m_job.encryption, request.encryption());
    }
    if (m_options.signing.is_requested() && writes_output()) {
      CLBIN_TRY_ASSIGN(auto signer,
                       trust::BundleSigner::open(m_options, m_workers.stop, m_reporter));
      writer.sign_with(std::move(signer));
    }
    return writer;
  }

  // Returns why neither cache is used; empty if both may be.
  std::string why_no_cache() const {
    if (m_options.cache == CachePolicy::ignore) {
      return "--no-cache was given";
    }
    if (m_options.signing.is_requested()) {
      return "who can write it must not choose what is signed";
    }
    return m_job.encryption ? "it would contain the kernels of an encrypted bundle" : "";
  }

  clbin::cache::CacheSettings cache_settings() const {
    clbin::cache::CacheSettings settings = m_caches.local;
    if (std::string why_off = why_no_cache(); !why_off.empty()) {
      settings = {};
      settings.why_off = std::move(why_off);
    }
    // By then, another process that builds the same unit has finished or failed.
    settings.wait_limit = std::chrono::seconds(m_options.timeout_seconds);
    return settings;
  }

  // Returns null if no remote cache is used.
  std::unique_ptr<remote::RemoteCache> open_remote_cache() {
    if (!writes_output() || !why_no_cache().empty()) {
      return nullptr;
    }
    const remote::RemoteSettings& settings = m_caches.remote;
    for (const std::string& problem : settings.problems) {
      m_reporter.warning("remote cache: " + problem);
    }
    if (settings.use == remote::RemoteUse::off) {
      if (!settings.why_off.empty()) {
        m_reporter.verbose("remote cache: off: " + settings.why_off);
      }
      return nullptr;
    }
    if (const auto variable = unshared_variable(process_environment())) {
      m_reporter.verbose(
          fmt::format("remote cache: off: {} loads libraries that may differ on other "
                      "machines",
                      *variable));
      return nullptr;
    }
    auto trust = read_remote_trust(settings);
    auto opened =
        trust ? remote::open_remote_cache(settings, *std::move(trust), clbin::cache::this_process())
              : tl::unexpected(std::move(trust.error()));
    if (!opened) {
      m_reporter.warning(fmt::format("remote cache: {}; it is not used", opened.error().message));
      return nullptr;
    }
    return *std::move(opened);
  }

  Result<std::vector<DeviceDescription>> choose_devices(const std::vector<DeviceDescription>& all) {
    CLBIN_TRY_ASSIGN(auto selected, select_devices(all, m_options.device_patterns));
    CLBIN_TRY_ASSIGN(auto fitting, devices_for_output(m_output, m_options, std::move(selected)));
    return usable_devices(std::move(fitting), m_reporter);
  }

  // Makes targets of the devices, which their drivers compile for.
  Result<void> plan_device_targets() {
    CLBIN_TRY_ASSIGN(auto installed,
                     m_known_devices != nullptr
                         ? Result<worker::InstalledDevices>(std::move(*m_known_devices))
                         : worker::find_installed_devices(m_workers, worker::PropertyQuery::skip));
    for (const std::string& failure : installed.failures) {
      m_reporter.warning(failure);
    }
    report_text("while listing devices, drivers printed", installed.driver_output, m_reporter);
    CLBIN_TRY_ASSIGN(auto devices, choose_devices(installed.devices));
    m_job.targets = device_targets(devices);
    m_job.compilers.push_back(
        worker::make_driver_compiler(m_workers, std::move(devices), std::move(installed.workers),
                                     std::chrono::seconds(m_options.timeout_seconds)));
    return {};
  }

  // Makes targets of the installed devices that entries are for. A machine without any has none.
  Result<void> plan_recorded_devices(const std::vector<RecordedEntry>& entries) {
    auto installed = worker::find_installed_devices(m_workers, worker::PropertyQuery::skip);
    if (!installed) {
      m_reporter.warning(installed.error().message);
      return {};
    }
    auto& devices = installed->devices;
    std::erase_if(devices, [&](const DeviceDescription& device) {
      return std::ranges::none_of(entries, [&](const RecordedEntry& entry) {
        const format::Target& target = entry.details->target;
        return target.origin == format::TargetOrigin::installed_device &&
               target.identity == device.identity;
      });
    });
    m_job.targets = device_targets(devices);
    m_job.compilers.push_back(
        worker::make_driver_compiler(m_workers, std::move(devices), std::move(installed->workers),
                                     std::chrono::seconds(m_options.timeout_seconds)));
    const auto contents = m_job.contents.get();
    add_driver_facts(m_job.targets, contents, {});
    return std::ranges::any_of(entries, is_cubin_of_device)
               ? add_cubin_targets(m_job, m_workers,
                                   std::chrono::seconds(m_options.timeout_seconds))
               : Result<void>();
  }

  // Modules are compiled already, and --source-only compiles nothing. --target alone starts no
  // driver. With --device, too, a bundle has entries of both.
  Result<void> plan_targets() {
    CLBIN_TRY(check_offline_options(m_options));
    if (m_options.binaries == BinaryPolicy::none || m_job.programs.empty()) {
      return {};
    }
    if (!m_options.machines.empty()) {
      CLBIN_TRY_ASSIGN(const auto all, devices_of_machines(m_options));
      CLBIN_TRY_ASSIGN(const auto devices, choose_devices(all));
      m_job.targets = device_targets(devices);
    } else if (uses_drivers(m_options)) {
      CLBIN_TRY(plan_device_targets());
    }
    const auto& contents = m_job.contents;
    add_driver_facts(m_job.targets, contents.get(), contents ? read_cpuinfo() : std::string());
    return add_offline_targets(m_job, m_options, m_workers, cache_settings());
  }

  // Adds the targets that are made of others, then the options of every target.
  Result<void> plan_further_targets() {
    if (m_options.cubin == CubinPolicy::emit || m_output.raw_kind == format::BinaryKind::cubin) {
      CLBIN_TRY(
          add_cubin_targets(m_job, m_workers, std::chrono::seconds(m_options.timeout_seconds)));
    }
    CLBIN_TRY(add_device_options(m_options, m_job));
    return m_options.unit ? plan::keep_unit(m_job, m_options, compiler_facts(m_workers.executable),
                                            *m_options.unit)
                          : Result<void>();
  }

  // Starts to compress the sources for the bundle, unless it contains none that is known now.
  void compress_sources() {
    if (!writes_bundle() || m_job.bundle || m_options.source == SourcePolicy::drop ||
        !writes_output()) {
      return;
    }
    std::vector<std::shared_ptr<const format::SourcePackage>> sources;
    std::ranges::transform(m_job.programs, std::back_inserter(sources), &Program::source);
    m_job.sources = std::make_unique<SourceCompression>(std::move(sources));
  }

  void build(CompileCache& cache) {
    compress_sources();
    if (!cache.is_on()) {
      m_reporter.verbose(fmt::format("compile cache: off: {}", cache.why_off()));
    }
    build_job(m_job, m_options, compiler_facts(m_workers.executable), m_workers.executable, cache,
              m_reporter);
    warn_of(cache);
    read_build_logs(m_job);
  }

  // If the input bundle is rebuilt, it gets the entries of `bundle`.
  Result<void> write(const BundleOfUnits& bundle, OutputWriter& writer, CompileCache& cache) {
    format::WriteOptions options{
        .spill = m_job.spill,
        .encryption = m_job.encryption,
        .sources = [sources = std::shared_ptr<SourceCompression>(std::move(m_job.sources))] {
          return sources ? sources->finish() : nullptr;
        }};
    OutputWriter::Edit edit;
    if (m_job.bundle && m_output.form == OutputForm::bundle) {
      options.encryption.reset(); // by the edit
      edit = [this](const base::Bytes& newer) {
        return replace_entries(*m_job.bundle, newer, m_options.source,
                               trust::pointer_to(m_job.encryption));
      };
    }
    return writer.write(bundle, std::move(options), edit, cache, m_reporter);
  }

  // Notes what the output lacks of the inputs, or adds to them.
  void note_changes(const OutputWriter& writer) {
    const auto& signer = writer.signer();
    const bool all_replaced =
        std::ranges::all_of(m_input_signatures, [&](const format::TrailingRecord& record) {
          return signer && signer->writes_like(record);
        });
    const std::string name = bundle_name(m_output.path);
    if (!all_replaced) {
      m_reporter.note(
          fmt::format("{}: {}", name, signer ? k_other_signatures_removed : k_signatures_removed));
    }
    if (m_job.plain_inputs_note) {
      m_reporter.note(fmt::format("{}: {}", name, *m_job.plain_inputs_note));
    }
  }

  const Options& m_options;
  worker::WorkerSettings m_workers;
  const Caches& m_caches;
  Reporter& m_reporter;
  worker::InstalledDevices* m_known_devices;
  OutputPlan m_output;
  std::optional<DepfilePlan> m_depfile;
  std::vector<format::TrailingRecord> m_input_signatures; // of bundles; the output has none of them
  Job m_job;
};

} // namespace

ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                 const Caches& caches, Reporter& reporter, worker::InstalledDevices* installed) {
  Compile story(options, settings, caches, reporter, installed);
  return report_result(options.mode == Mode::plan        ? story.plan_for_engine()
                       : options.mode == Mode::reproduce ? story.reproduce()
                                                         : story.run(),
                       reporter);
}

bool uses_drivers(const Options& options) noexcept {
  return options.binaries == BinaryPolicy::build && options.machines.empty() &&
         (options.targets.empty() || !options.device_patterns.empty());
}

} // namespace oclcc
