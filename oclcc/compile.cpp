#include "compile.hpp"

#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "device_pattern.hpp"
#include "diagnostics.hpp"
#include "format/bundle_writer.hpp"
#include "include_closure.hpp"
#include "opencl/cl_error.hpp"
#include "output_plan.hpp"
#include "worker/installed_devices.hpp"
#include "worker/unit_builder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

namespace oclcc {

using clbin::base::Bytes;
using clbin::base::Error;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::BundleInput;
using clbin::format::EntryInput;
using clbin::format::ProgramInput;
using worker::BuildReply;
using worker::DeviceDescription;
using worker::UnitResult;

namespace {

struct Program {
  std::string name;
  std::string path; // as the user wrote it
  std::shared_ptr<const clbin::format::SourcePackage> source;
};

struct UnitPlace {
  std::size_t program = 0;
  std::size_t variant = 0;
  std::size_t device = 0;
};

struct VariantOptions {
  std::string name;
  std::string options; // recorded, and what source fallback builds with
};

struct Job {
  std::vector<Program> programs;
  std::vector<VariantOptions> variants;
  std::vector<DeviceDescription> devices;
  std::vector<UnitPlace> places; // a unit each, by program, variant, device
  std::vector<UnitResult> results;
};

// --- before the build ---------------------------------------------------------------------------

IncludeSearch include_search(const Options& options) {
  IncludeSearch search{
      options.include_folders, options.forced_includes, options.driver_options, {}};
  for (const Variant& variant : options.variants) {
    search.variant_options.insert(search.variant_options.end(), variant.options.begin(),
                                  variant.options.end());
  }
  return search;
}

std::vector<VariantOptions> variants_of(const Options& options, const IncludeSearch& search) {
  std::vector<VariantOptions> variants;
  for (const Variant& variant : options.variants) {
    variants.push_back({variant.name, join_options(driver_options_of(search, variant.options))});
  }
  if (variants.empty()) {
    variants.push_back({std::string(clbin::format::k_default_variant),
                        join_options(driver_options_of(search, {}))});
  }
  return variants;
}

// Every input is read, so that one run shows what is wrong with any of them.
ExitCode read_programs(const Options& options, const IncludeSearch& search,
                       const std::filesystem::path& output, Reporter& reporter,
                       std::vector<Program>& programs) {
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    auto closure = find_include_closure(input.path, search);
    if (!closure) {
      reporter.error(closure.error());
      // What is wrong is the file, not the command line that names it.
      status = ExitCode::file;
      continue;
    }
    if (const auto other = require_other_files(output, closure->files); !other) {
      reporter.error(other.error());
      status = ExitCode::command_line;
      continue;
    }
    programs.push_back(
        {input.program, input.path.string(),
         std::make_shared<const clbin::format::SourcePackage>(std::move(closure->package))});
  }
  return status;
}

// Devices that a build can be asked of, each identity once: the loader cannot tell equal ones
// apart.
Result<std::vector<DeviceDescription>> usable_devices(std::vector<DeviceDescription> candidates,
                                                      Reporter& reporter) {
  std::vector<DeviceDescription> usable;
  for (DeviceDescription& device : candidates) {
    const std::string& name = device.identity.device_name;
    if (!device.compiler_available) {
      reporter.note(fmt::format("'{}' is left out: its driver has no compiler", name));
      continue;
    }
    const bool known =
        std::any_of(usable.begin(), usable.end(), [&](const DeviceDescription& other) {
          return other.identity == device.identity;
        });
    if (known) {
      reporter.verbose(fmt::format("{}:{} '{}' is as one before it: its entries serve both",
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

// --- the build ----------------------------------------------------------------------------------

// What tells devices of one name apart.
std::string device_label(const Job& job, std::size_t index) {
  const DeviceDescription& device = job.devices[index];
  const auto same_name = [&](const DeviceDescription& other) {
    return other.identity.device_name == device.identity.device_name;
  };
  return std::count_if(job.devices.begin(), job.devices.end(), same_name) == 1
             ? device.identity.device_name
             : fmt::format("{} ({}:{})", device.identity.device_name, device.platform,
                           device.device);
}

// The device, and the variant where there are several.
std::string place_label(const Job& job, const UnitPlace& place) {
  const std::string device = device_label(job, place.device);
  return job.variants.size() == 1
             ? device
             : fmt::format("{} · {}", device, job.variants[place.variant].name);
}

std::string unit_label(const Job& job, const UnitPlace& place) {
  const std::string variant =
      job.variants.size() == 1 ? "" : fmt::format(" · {}", job.variants[place.variant].name);
  return fmt::format("{} · {}{}", device_label(job, place.device), job.programs[place.program].path,
                     variant);
}

void plan_units(Job& job) {
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    for (std::size_t v = 0; v < job.variants.size(); ++v) {
      for (std::size_t d = 0; d < job.devices.size(); ++d) {
        job.places.push_back({p, v, d});
      }
    }
  }
}

bool same_file(const clbin::format::SourceFile& a, const clbin::format::SourceFile& b) {
  return a.include_name == b.include_name && a.text == b.text;
}

// Whether a compiler is given the same; the user's paths are not among that.
bool same_source(const clbin::format::SourcePackage& a, const clbin::format::SourcePackage& b) {
  return a.main.text == b.main.text && std::equal(a.headers.begin(), a.headers.end(),
                                                  b.headers.begin(), b.headers.end(), same_file);
}

bool same_unit(const Job& job, const UnitPlace& a, const UnitPlace& b) {
  return a.device == b.device &&
         job.variants[a.variant].options == job.variants[b.variant].options &&
         (a.program == b.program ||
          same_source(*job.programs[a.program].source, *job.programs[b.program].source));
}

// For each unit the first one that is the same: that one is built. PoCL answers a second build of
// the same in one process from its cache, without the warnings.
std::vector<std::size_t> find_first_equals(const Job& job) {
  std::vector<std::size_t> firsts;
  std::multimap<std::size_t, std::size_t> seen; // hash of text and options → unit
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const UnitPlace& place = job.places[unit];
    const std::size_t key =
        std::hash<std::string>()(job.programs[place.program].source->main.text) ^
        (std::hash<std::string>()(job.variants[place.variant].options) * 31) ^ place.device;
    const auto [begin, end] = seen.equal_range(key);
    const auto found = std::find_if(begin, end, [&](const auto& candidate) {
      return same_unit(job, job.places[candidate.second], place);
    });
    firsts.push_back(found == end ? unit : found->second);
    if (found == end) {
      seen.emplace(key, unit);
    }
  }
  return firsts;
}

void build(Job& job, const Options& options, const worker::WorkerSettings& settings,
           worker::WorkerProcess enumerated, Reporter& reporter) {
  plan_units(job);
  const std::vector<std::size_t> firsts = find_first_equals(job);
  worker::BuildPlan plan;
  plan.settings = settings;
  plan.devices = job.devices;
  plan.jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  plan.timeout = std::chrono::seconds(options.timeout_seconds);
  std::vector<std::size_t> built_as(job.places.size()); // unit → index in the plan
  std::vector<std::size_t> built;                       // index in the plan → unit
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const UnitPlace& place = job.places[unit];
    built_as[unit] = firsts[unit] == unit ? built.size() : built_as[firsts[unit]];
    if (firsts[unit] == unit) {
      built.push_back(unit);
      plan.units.push_back(
          {place.device, job.programs[place.program].source, job.variants[place.variant].options});
    }
  }
  const auto show = [&](std::size_t done, std::size_t unit) {
    reporter.progress(
        fmt::format("[{}/{}] {}", done, built.size(), unit_label(job, job.places[built[unit]])));
  };
  show(0, 0);
  const std::vector<UnitResult> results = worker::build_units(plan, std::move(enumerated), show);
  for (const std::size_t index : built_as) {
    job.results.push_back(results[index]);
  }
}

// With -w and -Werror heeded, which not every driver does.
std::vector<Diagnostic> diagnostics_of(const Job& job, std::size_t unit) {
  const UnitPlace& place = job.places[unit];
  std::vector<Diagnostic> diagnostics =
      parse_build_log(job.results[unit].reply->log, *job.programs[place.program].source);
  apply_warning_policy(diagnostics,
                       warning_policy(split_options(job.variants[place.variant].options)));
  return diagnostics;
}

bool has_error(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::error;
  });
}

bool is_built(const UnitResult& result) {
  return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
}

// A driver that ignores -Werror (Oclgrind) built what should not have been.
void refuse_warnings(Job& job) {
  for (std::size_t unit = 0; unit < job.results.size(); ++unit) {
    if (is_built(job.results[unit]) && has_error(diagnostics_of(job, unit))) {
      job.results[unit].reply->cl_code = CL_BUILD_PROGRAM_FAILURE;
    }
  }
}

// --- what the compilers said --------------------------------------------------------------------

// Names of devices where they tell something: not when every device of the run said the same.
void drop_needless_devices(std::vector<Diagnostic>& diagnostics, std::size_t place_count) {
  for (Diagnostic& diagnostic : diagnostics) {
    if (std::set(diagnostic.devices.begin(), diagnostic.devices.end()).size() == place_count) {
      diagnostic.devices.clear();
    }
  }
}

void report_diagnostics(const Job& job, std::size_t program, Reporter& reporter) {
  std::vector<Diagnostic> all;
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (job.places[unit].program != program || !job.results[unit].reply) {
      continue;
    }
    for (Diagnostic& diagnostic : diagnostics_of(job, unit)) {
      diagnostic.devices = {place_label(job, job.places[unit])};
      all.push_back(std::move(diagnostic));
    }
  }
  std::vector<Diagnostic> merged = merge_diagnostics(std::move(all));
  drop_needless_devices(merged, job.devices.size() * job.variants.size());
  for (const Diagnostic& diagnostic : merged) {
    reporter.diagnostic(diagnostic);
  }
}

void report_text(std::string_view title, std::string_view text, Reporter& reporter) {
  if (!text.empty()) {
    reporter.verbose(fmt::format("{}:\n{}", title, text));
  }
}

void note_lines(std::string_view before, std::string_view text, Reporter& reporter) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) {
      reporter.note(fmt::format("{}{}", before, line));
    }
  }
}

// A failure that no diagnostic has told.
void report_failure(const Job& job, std::size_t unit, Reporter& reporter) {
  const UnitPlace& place = job.places[unit];
  const UnitResult& result = job.results[unit];
  const Program& program = job.programs[place.program];
  const std::string device = device_label(job, place.device);
  if (!result.reply) {
    reporter.error(fmt::format("{}: {}", program.path, result.failure));
    note_lines("it printed: ", result.driver_output, reporter);
    return;
  }
  if (!result.reply->error.empty()) {
    reporter.error(fmt::format("{}: '{}': {}", program.path, device, result.reply->error));
    return;
  }
  if (result.reply->cl_code != 0 && !has_error(diagnostics_of(job, unit))) {
    reporter.error(fmt::format("{}: '{}' does not compile it: {} answered {}", program.path, device,
                               result.reply->stage,
                               clbin::opencl::cl_error_name(result.reply->cl_code)));
    note_lines("its build log: ", result.reply->log, reporter);
  }
}

void report_missing_kernels(const Job& job, std::size_t program, Reporter& reporter) {
  bool built = false;
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (job.places[unit].program == program && is_built(job.results[unit])) {
      built = true;
      if (!job.results[unit].reply->kernels.empty()) {
        return;
      }
    }
  }
  if (built) {
    reporter.warning(fmt::format("{}: there is no kernel in it", job.programs[program].path));
  }
}

// Whether every unit was built.
bool report_results(const Job& job, Reporter& reporter) {
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const std::string label = unit_label(job, job.places[unit]);
    report_text(label + ": the driver printed", job.results[unit].driver_output, reporter);
    if (job.results[unit].reply) {
      report_text(label + ": build log", job.results[unit].reply->log, reporter);
    }
    if (is_built(job.results[unit])) {
      const Bytes& binary = job.results[unit].reply->binary;
      reporter.verbose(fmt::format("{}: {}, {} bytes", label,
                                   clbin::format::describe(clbin::format::classify_binary(binary)),
                                   binary.size()));
    }
  }
  for (std::size_t program = 0; program < job.programs.size(); ++program) {
    report_diagnostics(job, program, reporter);
    for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
      if (job.places[unit].program == program) {
        report_failure(job, unit, reporter);
      }
    }
    report_missing_kernels(job, program, reporter);
  }
  return std::all_of(job.results.begin(), job.results.end(), is_built);
}

// --- after the build ----------------------------------------------------------------------------

EntryInput make_entry(const Job& job, const UnitPlace& place, BuildReply reply) {
  EntryInput entry;
  entry.variant = job.variants[place.variant].name;
  entry.target.identity = job.devices[place.device].identity;
  entry.options = job.variants[place.variant].options;
  entry.payload = std::move(reply.binary);
  entry.kernels = std::move(reply.kernels);
  entry.build_log = std::move(reply.log);
  entry.tools = {{"oclcc", OCLCC_VERSION},
                 {"driver", entry.target.identity.driver_version},
                 {"libzstd", std::string(clbin::base::zstd_version())}};
  return entry;
}

bool has_entry(const ProgramInput& program, const std::string& variant) {
  return std::any_of(program.entries.begin(), program.entries.end(),
                     [&](const EntryInput& entry) { return entry.variant == variant; });
}

// What was built: a variant, or a program, that no device could build is not in it.
BundleInput make_bundle(Job& job, SourcePolicy source) {
  BundleInput bundle;
  bundle.producer = "oclcc " OCLCC_VERSION;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    ProgramInput program;
    program.name = job.programs[p].name;
    if (source == SourcePolicy::keep) {
      program.source = without_paths(*job.programs[p].source);
    }
    for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
      if (job.places[unit].program == p && is_built(job.results[unit])) {
        program.entries.push_back(
            make_entry(job, job.places[unit], std::move(*job.results[unit].reply)));
        job.results[unit].reply.reset();
      }
    }
    for (const VariantOptions& variant : job.variants) {
      if (has_entry(program, variant.name)) {
        program.variants.push_back({variant.name, variant.options});
      }
    }
    if (!program.entries.empty()) {
      bundle.programs.push_back(std::move(program));
    }
  }
  return bundle;
}

Result<void> write_output(const OutputPlan& output, const BundleInput& bundle) {
  if (output.form == OutputForm::raw_binary) {
    CLBIN_TRY_ASSIGN(const Bytes bytes, raw_binary(output, bundle));
    return clbin::base::write_output_file(output.path, bytes);
  }
  CLBIN_TRY_ASSIGN(const Bytes bytes, clbin::format::write_bundle(bundle, {}));
  return clbin::base::write_output_file(output.path, bytes);
}

ExitCode fail_with(const Error& error, Reporter& reporter) {
  reporter.error(error);
  return exit_code_of(error.code);
}

} // namespace

ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                 Reporter& reporter) {
  const auto output = plan_output(options);
  if (!output) {
    return fail_with(output.error(), reporter);
  }
  Job job;
  const IncludeSearch search = include_search(options);
  job.variants = variants_of(options, search);
  if (const ExitCode status = read_programs(options, search, output->path, reporter, job.programs);
      status != ExitCode::success) {
    return status;
  }
  auto installed = worker::find_installed_devices(settings, worker::PropertyQuery::skip);
  if (!installed) {
    return fail_with(installed.error(), reporter);
  }
  report_text("while devices were listed, drivers printed", installed->driver_output, reporter);
  auto devices = choose_devices(*output, options, installed->devices, reporter);
  if (!devices) {
    return fail_with(devices.error(), reporter);
  }
  job.devices = std::move(*devices);
  build(job, options, settings, std::move(installed->worker), reporter);
  refuse_warnings(job);
  const bool all_built = report_results(job, reporter);
  if (!all_built && options.failure == FailurePolicy::stop) {
    return ExitCode::compile_failed;
  }
  const BundleInput bundle = make_bundle(job, options.source);
  if (bundle.programs.empty()) {
    return ExitCode::compile_failed;
  }
  if (const auto written = write_output(*output, bundle); !written) {
    return fail_with(written.error(), reporter);
  }
  return all_built ? ExitCode::success : ExitCode::compile_failed;
}

} // namespace oclcc
