// --tune: measures the variants of a bundle's programs on the installed devices.
#include "cache/cache_recipe.hpp"
#include "command_line/modes.hpp"
#include "modes/measured_bundle.hpp"
#include "modes/tuning_rounds.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "units/sealed_files.hpp"
#include "worker/installed_devices.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

using Clock = std::chrono::steady_clock;
using clbin::cache::CacheSettings;
using worker::DeviceDescription;
using worker::LaunchRequest;

// ---- What is measured --------------------------------------------------------------------------

struct TunedProgram {
  std::string name;
  std::vector<TunedVariant> variants; // "default" first
};

// A launch that fits the program.
struct PlannedLaunch {
  LaunchDescription description;
  std::size_t program = 0; // index in the programs
};

bool has_kernel(const TunedProgram& program, std::string_view kernel) {
  return std::ranges::any_of(program.variants, [&](const TunedVariant& variant) {
    return std::ranges::find(variant.kernels, kernel, &format::KernelReflection::name) !=
           variant.kernels.end();
  });
}

// What the entries of a variant say of its kernels, by name: the first that knows the arguments.
using KernelsOfVariant = std::map<std::string, format::KernelReflection>;

std::map<std::string, KernelsOfVariant> kernels_by_variant(const format::Manifest& manifest) {
  std::map<std::string, KernelsOfVariant> all;
  for (const format::ManifestEntry& entry : manifest.entries) {
    for (const format::KernelReflection& kernel : entry.kernels) {
      auto& known = all[entry.variant].try_emplace(kernel.name, kernel).first->second;
      known.arguments = known.arguments ? known.arguments : kernel.arguments;
    }
  }
  return all;
}

TunedVariant variant_of(const format::GroupView& group, const KernelsOfVariant& kernels) {
  TunedVariant variant{group.variant, group.options, {}};
  variant.kernels.reserve(kernels.size());
  for (const auto& [name, kernel] : kernels) {
    variant.kernels.push_back(kernel);
  }
  return variant;
}

Result<std::vector<TunedProgram>> programs_of(const format::BundleReader& bundle) {
  std::vector<TunedProgram> programs;
  std::map<std::string, std::map<std::string, KernelsOfVariant>> kernels; // by program
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(index));
    auto program = std::ranges::find(programs, group.program.str(), &TunedProgram::name);
    if (program == programs.end()) {
      CLBIN_TRY_ASSIGN(const format::Manifest manifest, bundle.read_manifest(group));
      kernels[group.program] = kernels_by_variant(manifest);
      program = programs.insert(programs.end(), {group.program, {}});
    }
    program->variants.push_back(variant_of(group, kernels[group.program][group.variant]));
  }
  for (TunedProgram& program : programs) {
    std::ranges::sort(program.variants, {}, [](const TunedVariant& variant) {
      return std::pair(variant.name != format::k_default_variant, variant.name);
    });
  }
  std::ranges::sort(programs, {}, &TunedProgram::name);
  return programs;
}

// Errors: no_such_variant.
Result<void> require_variants(const std::vector<TunedProgram>& programs,
                              const std::vector<std::string>& wanted) {
  std::set<std::string> known;
  for (const TunedProgram& program : programs) {
    for (const TunedVariant& variant : program.variants) {
      known.insert(variant.name);
    }
  }
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      return fail(ErrorCode::no_such_variant, "there is no variant '{}'; there are '{}'", name,
                  fmt::join(known, "', '"));
    }
  }
  return {};
}

// Whether a variant is measured: all are, those that --variant NAME names, or those made of them.
bool is_selected(const std::string& variant, const Options& options) {
  if (is_wanted(options.wanted_variants, variant)) {
    return true;
  }
  const std::size_t separator = variant.find(k_variant_separator);
  return separator != std::string::npos &&
         is_wanted(options.wanted_variants, variant.substr(0, separator)) &&
         std::ranges::find(options.variants, variant.substr(separator + 1), &Variant::name) !=
             options.variants.end();
}

std::string names_of_programs(const std::vector<TunedProgram>& programs) {
  std::vector<std::string_view> names;
  std::ranges::transform(programs, std::back_inserter(names), &TunedProgram::name);
  return fmt::format("'{}'", fmt::join(names, "', '"));
}

// The program that a launch names, or the only one with its kernel. The names of kernels are not
// known of a program without entries.
Result<std::size_t> program_of(const LaunchDescription& launch,
                               const std::vector<TunedProgram>& programs) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const bool is_named = programs[i].name == launch.program;
    if (is_named || (launch.program.empty() && has_kernel(programs[i], launch.kernel))) {
      found.push_back(i);
    }
  }
  if (found.empty() && launch.program.empty() && programs.size() == 1) {
    return 0;
  }
  if (found.size() == 1) {
    return found.front();
  }
  if (!launch.program.empty()) {
    return refused("there is no program '{}'; there {} {}", launch.program,
                   programs.size() == 1 ? "is" : "are", names_of_programs(programs));
  }
  return found.empty() ? refused("no program is known to have a kernel '{}'; there are {}",
                                 launch.kernel, names_of_programs(programs))
                       : refused("several programs have a kernel '{}': write '{}/{}='",
                                 launch.kernel, programs[found.front()].name, launch.kernel);
}

// Whether the launch fits what the bundle knows of the kernel, before a driver is started.
Result<void> check_launch(const LaunchDescription& launch, const TunedProgram& program) {
  bool is_known = true;
  for (const TunedVariant& variant : program.variants) {
    const auto kernel =
        std::ranges::find(variant.kernels, launch.kernel, &format::KernelReflection::name);
    if (kernel == variant.kernels.end()) {
      is_known = is_known && !variant.kernels.empty();
      continue;
    }
    return kernel->arguments ? check_arguments(launch, *kernel) : Result<void>();
  }
  return is_known
             ? Result<void>(refused("program '{}' has no kernel '{}'", program.name, launch.kernel))
             : Result<void>();
}

// The launches of the options; without any, those that were recorded with their data.
Result<std::vector<LaunchDescription>> wanted_launches(const Options& options,
                                                       const MeasuredBundle& bundle) {
  std::vector<LaunchDescription> all;
  for (const std::string& text : options.launches) {
    CLBIN_TRY_ASSIGN(auto launches, read_launches(text));
    std::ranges::move(launches, std::back_inserter(all));
  }
  if (options.launches.empty()) {
    all = bundle.recorded_launches();
  }
  return all.empty()
             ? refused("'--tune' needs '--launch', or a bundle that '--record --record-data' "
                       "has written")
             : Result<std::vector<LaunchDescription>>(std::move(all));
}

Result<std::vector<PlannedLaunch>> plan_launches(std::vector<LaunchDescription> launches,
                                                 const std::vector<TunedProgram>& programs) {
  std::vector<PlannedLaunch> planned;
  for (LaunchDescription& launch : launches) {
    const std::string place = told(launch);
    CLBIN_TRY_ASSIGN(const std::size_t program,
                     base::in_context(program_of(launch, programs), place));
    CLBIN_TRY(base::in_context(check_launch(launch, programs[program]), place));
    planned.push_back({std::move(launch), program});
  }
  return planned;
}

// ---- Output ------------------------------------------------------------------------------------

struct TunedOnDevice {
  std::size_t device = 0;
  std::string program;
  std::string kernel;
  TunedLaunch launch;
};

std::string work_group_text(const TuningResult& result) {
  const format::Measurement& measurement = result.measurement;
  return measurement.local_size[0] == 0 ? "-"
                                        : size_text(measurement.local_size, measurement.dimensions);
}

std::string result_text(const TuningResult& result, std::uint64_t best_ns, std::size_t width) {
  const format::Measurement& measurement = result.measurement;
  std::string line = fmt::format("    {:<{}}  {:<9}", printable(measurement.variant), width,
                                 work_group_text(result));
  if (measurement.median_ns != 0) {
    return fmt::format("{}  {:>9}  {:>9}  {:>6.2f}  {}\n", line, time_text(measurement.median_ns),
                       time_text(measurement.spread_ns),
                       static_cast<double>(measurement.median_ns) / static_cast<double>(best_ns),
                       measurement.rounds);
  }
  return result.state == TuningResult::State::out_of_time
             ? line + "  not measured: out of time\n"
             : fmt::format("{}  refused: {}\n", line, printable(measurement.reason));
}

std::string table_of(const TunedOnDevice& tuned) {
  const TunedLaunch& launch = tuned.launch;
  std::size_t width = std::string_view("variant").size();
  for (const TuningResult& result : launch.results) {
    width = std::max(width, printable(result.measurement.variant).size());
  }
  const std::uint64_t best_ns =
      launch.results.empty() ? 0 : launch.results.front().measurement.median_ns;
  std::string text =
      fmt::format("  program '{}', kernel '{}', {} work-items, by the clock of the {}\n",
                  printable(tuned.program), printable(tuned.kernel),
                  launch.class_size[0] == 0 ? "?" : size_text(launch.class_size, launch.dimensions),
                  format::name_of(launch.clock));
  text += fmt::format("    {:<{}}  {:<9}  {:>9}  {:>9}  {:>6}  {}\n", "variant", width, "group",
                      "median", "spread", "ratio", "launches");
  for (const TuningResult& result : launch.results) {
    text += result_text(result, best_ns, width);
  }
  return text;
}

std::string device_text(const DeviceDescription& device) {
  return fmt::format(
      "{}  {} / {} / {}\n", device_number(device), printable(device.identity.platform_name),
      printable(device.identity.device_name), printable(device.identity.driver_version));
}

JsonValue size_json(const format::GroupSize& size, std::uint32_t dimensions) {
  if (size[0] == 0) {
    return {};
  }
  return {clbin::base::array_of(std::span(size).first(dimensions),
                                [](std::uint64_t items) { return items; })};
}

JsonObject tuning_json(const TuningResult& result) {
  const format::Measurement& measurement = result.measurement;
  const bool is_measured = measurement.median_ns != 0;
  const bool is_known = result.state != TuningResult::State::out_of_time;
  return {
      {"global_size", size_json(result.launched_size, measurement.dimensions)},
      {"local_size", size_json(measurement.local_size, measurement.dimensions)},
      {"measured_before", {result.state == TuningResult::State::known}},
      {"median_ns", is_measured ? JsonValue{measurement.median_ns} : JsonValue{}},
      {"origin", {result.origin}},
      {"outcome", {std::string(is_known ? format::name_of(measurement.outcome) : "out_of_time")}},
      {"reason", {measurement.reason}},
      {"rounds", {std::uint64_t{measurement.rounds}}},
      {"spread_ns", is_measured ? JsonValue{measurement.spread_ns} : JsonValue{}},
      {"variant", {measurement.variant}},
  };
}

std::string document_of(const std::string& file, const std::vector<DeviceDescription>& devices,
                        const std::vector<TunedOnDevice>& all) {
  JsonArray list;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    JsonArray launches;
    for (const TunedOnDevice& tuned : all) {
      if (tuned.device != index) {
        continue;
      }
      const TunedLaunch& launch = tuned.launch;
      launches.push_back({JsonObject{
          {"class", size_json(launch.class_size, launch.dimensions)},
          {"clock", {std::string(format::name_of(launch.clock))}},
          {"kernel", {tuned.kernel}},
          {"program", {tuned.program}},
          {"results", {array_of(launch.results, tuning_json)}},
      }});
    }
    list.push_back({JsonObject{
        {"id", {device_number(devices[index])}},
        {"identity", {identity_json(devices[index].identity)}},
        {"launches", {std::move(launches)}},
    }});
  }
  return report_json({{"devices", {std::move(list)}}, {"file", {file}}});
}

// ---- The run -----------------------------------------------------------------------------------

// What the times of a launch depend on. Each candidate has a digest of its own launch, too.
base::Digest rounds_key(const DeviceDescription& device, const std::string& launch,
                        const std::string& program, const std::string& source,
                        const std::vector<TunedVariant>& variants) {
  clbin::cache::Recipe recipe{{}, {{"tuning", launch}, {"program", program}, {"source", source}}};
  clbin::cache::add_identity(recipe, device.identity);
  for (const TunedVariant& variant : variants) {
    recipe.ingredients.push_back({"variant " + variant.name, variant.options});
  }
  return clbin::cache::recipe_key(recipe);
}

class Tuning {
public:
  Tuning(const Options& options, const ModeContext& context)
      : m_options(options), m_reporter(context.reporter), m_settings(context.workers),
        m_rounds(options.cache == CachePolicy::use // otherwise, nothing is read or kept
                     ? CacheSettings::from_environment(context.environment)
                     : CacheSettings(),
                 SealedKind::preparation) {}

  Result<ExitCode> run() {
    const std::filesystem::path& path = m_options.inputs.front().path;
    CLBIN_TRY(check_output(path));
    CLBIN_TRY_ASSIGN(m_bundle, MeasuredBundle::open(path, m_options.output.value_or(path),
                                                    m_options.variants, m_options.wanted_variants));
    CLBIN_TRY_ASSIGN(m_programs, named(programs_of(m_bundle->reader()), path));
    CLBIN_TRY(named(require_variants(m_programs, m_options.wanted_variants), path));
    CLBIN_TRY_ASSIGN(auto launches, wanted_launches(m_options, *m_bundle));
    CLBIN_TRY_ASSIGN(m_launches, plan_launches(std::move(launches), m_programs));
    for (const PlannedLaunch& planned : m_launches) {
      if (m_options.answers == AnswerPolicy::add && m_options.cache == CachePolicy::ignore) {
        m_bundle->remove_answers(m_programs[planned.program].name, planned.description.kernel);
      }
    }
    CLBIN_TRY(find_devices());
    CLBIN_TRY(copy_bundle());
    for (std::size_t device = 0; device < m_devices.size(); ++device) {
      CLBIN_TRY_ASSIGN(const bool is_printed, tune_device(device));
      if (!is_printed) {
        return ExitCode::file;
      }
    }
    if (m_options.output && !m_is_written) {
      CLBIN_TRY(write_bundle());
    }
    if (m_options.list_format == ListFormat::json &&
        !m_reporter.print(document_of(bundle_name(path), m_devices, m_tuned))) {
      return ExitCode::file;
    }
    CLBIN_TRY(note_signatures());
    return status();
  }

private:
  Result<void> check_output(const std::filesystem::path& input) const {
    if (m_options.output == "-") {
      return refused("'--tune' prints its results, and '-o -' would write to standard output, too");
    }
    if (!m_options.output && input == "-") {
      return refused("'--tune' cannot replace standard input: name an output with '-o'");
    }
    return {};
  }

  Result<void> find_devices() {
    CLBIN_TRY_ASSIGN(auto found,
                     find_selected_devices(m_settings, m_options.device_patterns, m_reporter));
    m_devices = std::move(found.devices);
    if (m_options.tune_seconds != 0) {
      m_deadline = Clock::now() + std::chrono::seconds(m_options.tune_seconds);
    }
    return {};
  }

  // Workers read a copy: the file can be replaced meanwhile, also by the results.
  Result<void> copy_bundle() {
    m_copy = m_settings.home->path() / "tuned.clbin";
    return base::write_output_file(m_copy, m_bundle->bytes());
  }

  Result<void> write_bundle() {
    m_is_written = true;
    return m_bundle->write();
  }

  Result<void> note_signatures() {
    CLBIN_TRY_ASSIGN(const bool is_signed, m_bundle->is_signed());
    if (m_is_written && is_signed) {
      m_reporter.note(fmt::format("{}: {}",
                                  m_options.output.value_or(m_options.inputs.front().path).string(),
                                  k_signatures_removed));
    }
    return {};
  }

  // Writes what is new.
  Result<void> keep_results(const DeviceDescription& device, const TunedOnDevice& tuned) {
    bool has_news = !tuned.launch.answers.empty();
    for (const TuningResult& result : tuned.launch.results) {
      const bool is_new = result.state == TuningResult::State::measured ||
                          result.state == TuningResult::State::refused;
      if (is_new && tuned.launch.class_size[0] != 0) {
        m_bundle->add(tuned.program, of_device(result.measurement, device));
        has_news = true;
      }
    }
    return has_news ? write_bundle() : Result<void>();
  }

  // Replaces earlier answers only with --no-cache, as with measurements.
  void keep_answers(const DeviceDescription& device, const LaunchDescription& launch,
                    TunedOnDevice& tuned) {
    const std::string& name = device.identity.device_name;
    if (!tuned.launch.why_no_answers.empty()) {
      m_reporter.warning(fmt::format("{}: no known answer of every variant on '{}': {}",
                                     told(launch), name, tuned.launch.why_no_answers));
    }
    bool is_reported = false; // those of other variants differ likewise
    for (format::KnownAnswer& answer : tuned.launch.answers) {
      answer.device = fmt::format("{} / {} / {}", device.identity.platform_name, name,
                                  device.identity.driver_version);
      const auto added = m_bundle->add(tuned.program, std::move(answer));
      if (!added && !is_reported) {
        m_reporter.error(added.error());
        is_reported = true;
      }
      m_is_disputed = m_is_disputed || !added;
    }
  }

  static format::Measurement of_device(format::Measurement measurement,
                                       const DeviceDescription& device) {
    measurement.device = format::measured_device(device.identity, device.type);
    return measurement;
  }

  // One launch after another, so that no two share a device, or the processor of several. Returns
  // whether the table was written.
  Result<bool> tune_device(std::size_t device) {
    const DeviceDescription& known = m_devices[device];
    LaunchingWorker worker(m_settings, known, std::chrono::seconds(m_options.timeout_seconds));
    std::string heading = device_text(known);
    for (const PlannedLaunch& planned : m_launches) {
      const TunedProgram& program = m_programs[planned.program];
      TuningSettings settings = tuning_settings(known, program.name);
      const base::Digest rounds_key = go_on_with_rounds(known, planned, settings);
      settings.keep = [&](const worker::TuningProgress& progress) {
        if (!worker.error()) { // otherwise, no variant is to blame for what failed
          keep_rounds(rounds_key, progress);
        }
      };
      CLBIN_TRY_ASSIGN(const auto data, data_for(planned.description, settings));
      auto tuned =
          tune_launch(planned.description, program.name, variants_for(planned.description, program),
                      settings, [&](LaunchRequest request) {
                        request.bundle = m_copy.string();
                        if (request.launches != 0) {
                          request.data = data;
                        }
                        return worker.launch(std::move(request));
                      });
      m_reporter.end_progress();
      if (worker.error()) {
        return tl::unexpected(*worker.error());
      }
      if (!tuned) {
        return tl::unexpected(tuned.error());
      }
      m_tuned.push_back({device, program.name, planned.description.kernel, *std::move(tuned)});
      keep_answers(known, planned.description, m_tuned.back());
      // First the table, which a file that cannot be written must not lose.
      const bool is_printed =
          m_options.list_format == ListFormat::json ||
          m_reporter.print(std::exchange(heading, {}) + table_of(m_tuned.back()));
      CLBIN_TRY(keep_results(known, m_tuned.back()));
      keep_rounds(rounds_key, {});
      if (!is_printed) {
        return false;
      }
    }
    return true;
  }

  // Goes on with the rounds that a run has left in the compile cache which was killed. Returns
  // their key: each round is kept until the bundle has the results.
  base::Digest go_on_with_rounds(const DeviceDescription& device, const PlannedLaunch& planned,
                                 TuningSettings& settings) const {
    const TunedProgram& program = m_programs[planned.program];
    const base::Digest key =
        rounds_key(device, told(planned.description), program.name,
                   m_bundle->source_of(program.name), variants_for(planned.description, program));
    if (const SealedFile kept = m_rounds.look_up(key); kept.bytes) {
      if (auto begun = worker::decode<worker::TuningProgress>(*kept.bytes)) {
        settings.begun = *std::move(begun);
      }
    }
    return key;
  }

  // What cannot be kept is measured again by the next run.
  void keep_rounds(const base::Digest& key, const worker::TuningProgress& progress) const {
    (void)m_rounds.store(key, worker::encode(progress));
  }

  [[nodiscard]] std::vector<TunedVariant> variants_for(const LaunchDescription& launch,
                                                       const TunedProgram& program) const {
    std::vector<TunedVariant> variants = program.variants;
    std::erase_if(variants, [&](const TunedVariant& variant) {
      return !is_selected(variant.name, m_options) ||
             (launch.recorded &&
              !m_bundle->can_replace(program.name, launch.recorded->variant, variant.name));
    });
    return variants;
  }

  // Of a recorded launch: what is there before it, and what is expected. Reads those of one launch
  // at a time.
  Result<std::vector<base::Bytes>> data_for(const LaunchDescription& launch,
                                            TuningSettings& settings) const {
    if (!launch.recorded) {
      return std::vector<base::Bytes>();
    }
    settings.expected = launch.recorded;
    format::ReadBudget budget = m_bundle->reader().budget();
    return m_bundle->reader().read_data(*settings.expected, budget);
  }

  TuningSettings tuning_settings(const DeviceDescription& device, const std::string& program) {
    TuningSettings settings;
    settings.clock = clock_of(format::device_family(device.identity));
    settings.tolerance = m_options.tolerance;
    settings.is_out_of_time = [this] { return m_deadline && Clock::now() >= *m_deadline; };
    if (m_options.answers == AnswerPolicy::add) {
      settings.results = KeepResults::yes;
    } else if (m_options.cache == CachePolicy::use) {
      settings.known = [this, &device, program](const format::Measurement& wanted) {
        return m_bundle->find(program, of_device(wanted, device));
      };
    }
    const Clock::time_point start = Clock::now();
    settings.progress = [this, start, &device, program](std::size_t done, std::size_t total,
                                                        const std::string& variant) {
      const auto elapsed =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
      m_reporter.progress(progress_line_with_time(
          {done, std::max(total, done), elapsed,
           fmt::format("{} · {} · {}", device.identity.device_name, program, variant)}));
    };
    return settings;
  }

  [[nodiscard]] ExitCode status() const {
    bool is_out_of_time = false;
    bool is_everything_refused = false;
    for (const TunedOnDevice& tuned : m_tuned) {
      const auto& results = tuned.launch.results;
      is_everything_refused =
          is_everything_refused || std::ranges::none_of(results, [](const TuningResult& result) {
            return result.measurement.median_ns != 0;
          });
      is_out_of_time = is_out_of_time || std::ranges::any_of(results, [](const TuningResult& one) {
                         return one.state == TuningResult::State::out_of_time;
                       });
    }
    if (is_out_of_time) {
      m_reporter.warning(fmt::format("'--tune-seconds {}' ended before every variant was measured",
                                     m_options.tune_seconds));
    }
    return is_everything_refused || m_is_disputed ? k_entry_does_not_load : ExitCode::success;
  }

  const Options& m_options;
  Reporter& m_reporter;
  worker::WorkerSettings m_settings;
  std::optional<MeasuredBundle> m_bundle;
  bool m_is_written = false;
  bool m_is_disputed = false; // the results of two devices differ
  std::vector<TunedProgram> m_programs;
  std::vector<PlannedLaunch> m_launches;
  std::vector<DeviceDescription> m_devices;
  std::optional<Clock::time_point> m_deadline;
  std::filesystem::path m_copy;
  SealedFiles m_rounds; // of the launch in progress
  std::vector<TunedOnDevice> m_tuned;
};

} // namespace

Result<ExitCode> tune(const Options& options, const ModeContext& context) {
  return Tuning(options, context).run();
}

} // namespace oclcc
