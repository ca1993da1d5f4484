#include "compile/compile_steps.hpp"

#include "build_log/diagnostics.hpp"
#include "listing/launch_compilation.hpp"
#include "opencl/driver.hpp"
#include "source/source_closing.hpp"
#include "terminal/terminal_text.hpp"

#include <fmt/format.h>
#include <iterator>

namespace oclcc {

using format::KernelReflection;

namespace {

std::vector<std::reference_wrapper<const JobUnit>> units_of(const Job& job, std::size_t program) {
  std::vector<std::reference_wrapper<const JobUnit>> units;
  std::ranges::copy_if(job.units, std::back_inserter(units),
                       [program](const JobUnit& unit) { return unit.place.program == program; });
  return units;
}

// With -w and -Werror heeded, which not every driver does. Shows files as they are called here,
// whatever -ffile-prefix-map puts into the binaries. `map` is of the unit's source.
std::vector<Diagnostic> parse_log_of(const Job& job, const JobUnit& unit, const SourceMap& map) {
  std::vector<Diagnostic> diagnostics = parse_build_log(unit.result.reply->log, map);
  const auto& mapped_names = job.programs[unit.place.program].mapped_names;
  for (Diagnostic& diagnostic : diagnostics) {
    const auto found = mapped_names.find(diagnostic.file);
    if (found != mapped_names.end()) {
      diagnostic.file = found->second;
    }
  }
  apply_warning_policy(diagnostics, warning_policy(unit_options(job, unit.place).words()));
  return diagnostics;
}

bool is_error(const Diagnostic& diagnostic) {
  return diagnostic.severity == Severity::error;
}

// Skips a unit whose input is not used after all.
void skip_without_input(const Job& job, JobUnit& unit) {
  const JobUnit* const input = input_of(job, unit);
  if (input != nullptr && !is_built(input->result)) {
    unit.result = {};
    unit.result.state = UnitResult::State::skipped;
    unit.binary = {};
  }
}

// Names devices unless every device of the run reported the same.
void drop_needless_devices(std::vector<Diagnostic>& diagnostics, std::size_t device_count) {
  for (Diagnostic& diagnostic : diagnostics) {
    if (std::set(diagnostic.devices.begin(), diagnostic.devices.end()).size() == device_count) {
      diagnostic.devices.clear();
    }
  }
}

void report_diagnostics(const Job& job, std::size_t program, Reporter& reporter) {
  std::vector<Diagnostic> all;
  for (const JobUnit& unit : units_of(job, program)) {
    if (!unit.result.reply || is_absent_variant(job, unit) || is_left_to_source(job, unit)) {
      continue;
    }
    for (const Diagnostic& diagnostic : unit.diagnostics) {
      all.push_back(diagnostic);
      all.back().devices = {place_label(job, unit.place)};
    }
  }
  std::vector<Diagnostic> merged = merge_diagnostics(std::move(all));
  drop_needless_devices(merged, source_unit_count(job, program));
  for (const Diagnostic& diagnostic : merged) {
    reporter.diagnostic(diagnostic);
  }
}

// Prints a warning that names its devices, unless it has none. The errors are its notes, because
// the run succeeds.
void report_with_notes(const Diagnostic& warning, std::vector<Diagnostic> errors,
                       Reporter& reporter) {
  if (warning.devices.empty()) {
    return;
  }
  reporter.diagnostic(warning);
  std::vector<Diagnostic> merged = merge_diagnostics(std::move(errors));
  drop_needless_devices(merged, warning.devices.size());
  for (Diagnostic& error : merged) {
    error.severity = Severity::note;
    reporter.diagnostic(error);
  }
}

void note_lines(std::string_view before, std::string_view text, Reporter& reporter) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) {
      reporter.explain(fmt::format("{}{}", before, line));
    }
  }
}

void report_absent_variant(const Job& job, std::size_t program, std::size_t variant,
                           Reporter& reporter) {
  Diagnostic warning{Severity::warning, job.programs[program].path};
  warning.text = fmt::format("variant '{}' does not compile and is omitted [-Wvariant]",
                             job.variants[variant].name);
  std::vector<Diagnostic> errors;
  for (const JobUnit& unit : units_of(job, program)) {
    if (unit.place.variant == variant && is_absent_variant(job, unit)) {
      warning.devices.push_back(job.targets[unit.place.target].label);
      std::ranges::copy_if(unit.diagnostics, std::back_inserter(errors), is_error);
    }
  }
  report_with_notes(warning, std::move(errors), reporter);
}

// Whether a failure is an error, or a note to the warning about an optional program.
enum class ToldAs : std::uint8_t { error, note };

// Prints a failure that no diagnostic explains.
void report_failure(const Job& job, const JobUnit& unit, ToldAs told_as, Reporter& reporter) {
  const auto& reply = unit.result.reply;
  const std::string device = job.targets[unit.place.target].label;
  const auto tell = [&](const std::string& text) {
    const std::string line = fmt::format("{}: {}", job.programs[unit.place.program].path, text);
    told_as == ToldAs::error ? reporter.error(line) : reporter.explain(line);
  };
  if (!reply) {
    tell(unit.result.failure);
    note_lines("it printed: ", unit.result.driver_output, reporter);
  } else if (!reply->error.empty()) {
    tell(fmt::format("'{}': {}", device, reply->error));
  } else if (reply->cl_code != 0 && std::ranges::none_of(unit.diagnostics, is_error)) {
    tell(fmt::format("the compiler of '{}' rejects it: {} returned {}", device, reply->stage,
                     clbin::opencl::cl_error_name(reply->cl_code)));
    note_lines("its build log: ", reply->log, reporter);
  }
}

// Skipped units have nothing to report: their inputs have, or are nothing to convert.
bool is_skipped(const JobUnit& unit) {
  return unit.result.state == UnitResult::State::skipped;
}

bool is_required(const Job& job, const JobUnit& unit) {
  return !is_skipped(unit) && !is_absent_variant(job, unit) &&
         job.programs[unit.place.program].need == ProgramNeed::required;
}

void report_failures(const Job& job, std::size_t program, Reporter& reporter) {
  for (const JobUnit& unit : units_of(job, program)) {
    if (is_required(job, unit)) {
      report_failure(job, unit, ToldAs::error, reporter);
    }
  }
}

void report_left_to_source(const Job& job, std::size_t program, Reporter& reporter) {
  Diagnostic warning{Severity::warning, job.programs[program].path};
  warning.text = fmt::format(
      "optional program '{}' does not compile: it is built from source when it is loaded",
      job.programs[program].name);
  std::vector<const JobUnit*> units;
  std::vector<Diagnostic> errors;
  for (const JobUnit& unit : units_of(job, program)) {
    if (!is_left_to_source(job, unit)) {
      continue;
    }
    units.push_back(&unit);
    warning.devices.push_back(place_label(job, unit.place));
    for (const Diagnostic& diagnostic : unit.diagnostics) {
      if (is_error(diagnostic)) {
        errors.push_back(diagnostic);
        errors.back().devices = {warning.devices.back()};
      }
    }
  }
  report_with_notes(warning, std::move(errors), reporter);
  for (const JobUnit* const unit : units) {
    report_failure(job, *unit, ToldAs::note, reporter);
  }
}

// The PTX of the unit remains.
void report_missing_cubins(const Job& job, std::size_t program, Reporter& reporter) {
  for (const JobUnit& unit : units_of(job, program)) {
    const BuildTarget& target = job.targets[unit.place.target];
    if (!target.input || is_skipped(unit) || is_built(unit.result) ||
        job.programs[program].need == ProgramNeed::required) {
      continue;
    }
    reporter.warning(fmt::format("{}: optional program '{}' has no cubin for '{}'",
                                 job.programs[program].path, job.programs[program].name,
                                 target.label));
    report_failure(job, unit, ToldAs::note, reporter);
  }
}

void report_missing_kernels(const Job& job, std::size_t program, Reporter& reporter) {
  bool is_any_built = false;
  for (const JobUnit& unit : units_of(job, program)) {
    if (is_built(unit.result)) {
      is_any_built = true;
      if (!unit.result.reply->kernels.empty()) {
        return;
      }
    }
  }
  if (is_any_built) {
    reporter.warning(fmt::format("{}: it contains no kernel", job.programs[program].path));
  }
}

std::string format_of(const base::KeptBytes& binary, std::string_view platform) {
  const auto bytes = binary.read();
  return bytes ? format::describe(format::classify_binary(bytes->view()), platform)
               : bytes.error().message;
}

// With -v.
void report_details(const Job& job, const JobUnit& unit, Reporter& reporter) {
  const std::string label = printable(unit_label(job, unit.place));
  if (!unit.cache_note.empty()) {
    reporter.verbose(fmt::format("{}: compile cache: {}", label, unit.cache_note));
  }
  if (!unit.remote_note.empty()) {
    reporter.verbose(fmt::format("{}: remote cache: {}", label, unit.remote_note));
  }
  report_text(label + ": the driver printed", unit.result.driver_output, reporter);
  if (unit.result.reply) {
    report_text(label + ": build log", unit.result.reply->log, reporter);
  }
  if (is_built(unit.result) && reporter.verbosity() == Verbosity::verbose) {
    const auto& identity = job.targets[unit.place.target].target.identity;
    reporter.verbose(fmt::format("{}: {}, {} bytes", label,
                                 format_of(unit.binary, identity.platform_name),
                                 unit.binary.size_bytes()));
  }
}

Result<void> require_kernel(const Specialization& wanted,
                            const std::vector<const KernelReflection*>& kernels) {
  const GroupSize* required = nullptr;
  std::set<std::string> names;
  for (const KernelReflection* const kernel : kernels) {
    names.insert(kernel->name);
    if (kernel->name != wanted.kernel) {
      continue;
    }
    required = &kernel->required_work_group_size;
    if ((*required)[0] == 0 || *required == wanted.size) {
      return {};
    }
  }
  if (required == nullptr) {
    return fail(ErrorCode::invalid_argument,
                "'--specialize {}={}': there is no kernel '{}'; there {} {}", wanted.kernel,
                to_string(wanted.size), wanted.kernel, names.size() == 1 ? "is" : "are",
                names.empty() ? "none" : fmt::format("'{}'", fmt::join(names, "', '")));
  }
  return fail(ErrorCode::invalid_argument,
              "'--specialize {}={}': the kernel requires work-groups of {}", wanted.kernel,
              to_string(wanted.size), to_string(*required));
}

void note_kernels(const std::string& program, const std::string& device,
                  const std::set<std::string>& kernels, Reporter& reporter) {
  std::string options;
  for (const std::string& kernel : kernels) {
    options += fmt::format("{}--specialize {}=SIZE", options.empty() ? "" : " ", kernel);
  }
  reporter.note(fmt::format("{}: the first launch of '{}' compiles on '{}'; to avoid it, add {} "
                            "with the size of the work-groups",
                            program, fmt::join(kernels, "', '"), device, options));
}

} // namespace

void read_build_logs(Job& job) {
  std::map<const format::SourcePackage*, SourceMap> maps;
  for (JobUnit& unit : job.units) {
    skip_without_input(job, unit);
    auto& reply = unit.result.reply;
    if (!reply || reply->log.empty()) {
      continue;
    }
    const auto* const source = unit_source(job, unit.place).get();
    unit.diagnostics = parse_log_of(job, unit, maps.try_emplace(source, *source).first->second);
    if (job.bundle) {
      reply->log = clbin::source::with_open_names(reply->log);
    }
    if (is_built(unit.result) && std::ranges::any_of(unit.diagnostics, is_error)) {
      reply->cl_code = CL_BUILD_PROGRAM_FAILURE;
    }
  }
}

void report_text(std::string_view title, std::string_view text, Reporter& reporter) {
  if (!text.empty()) {
    reporter.verbose(fmt::format("{}:\n{}", title, text));
  }
}

bool report_results(const Job& job, Reporter& reporter) {
  for (const JobUnit& unit : job.units) {
    report_details(job, unit, reporter);
  }
  for (std::size_t program = 0; program < job.programs.size(); ++program) {
    report_diagnostics(job, program, reporter);
    report_failures(job, program, reporter);
    report_left_to_source(job, program, reporter);
    report_missing_cubins(job, program, reporter);
    for (const std::size_t variant : variants_of(job, program)) {
      report_absent_variant(job, program, variant, reporter);
    }
    report_missing_kernels(job, program, reporter);
  }
  return std::ranges::all_of(job.units, [&](const JobUnit& unit) {
    return is_built(unit.result) || !is_required(job, unit);
  });
}

Result<void> require_specialized_kernels(const Job& job) {
  std::vector<const KernelReflection*> kernels;
  for (const JobUnit& unit : job.units) {
    if (is_left_to_source(job, unit)) {
      return {}; // its kernels are not known
    }
    if (unit.result.reply) {
      for (const KernelReflection& kernel : unit.result.reply->kernels) {
        kernels.push_back(&kernel);
      }
    }
  }
  for (const Specialization& specialization : job.specializations) {
    CLBIN_TRY(require_kernel(specialization, kernels));
  }
  return {};
}

void note_first_launches(const Job& job, Reporter& reporter) {
  if (reporter.verbosity() != Verbosity::verbose) {
    return;
  }
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::string>> kernels; // program, target
  for (const JobUnit& unit : job.units) {
    if (!is_built(unit.result)) {
      continue;
    }
    const auto family = format::target_family(job.targets[unit.place.target].target);
    const auto names =
        clbin::listing::kernels_compiled_at_launch(family, unit.result.reply->kernels);
    for (const std::string_view name : names.value_or(std::vector<std::string_view>())) {
      kernels[{unit.place.program, unit.place.target}].emplace(name);
    }
  }
  for (const auto& [place, names] : kernels) {
    note_kernels(job.programs[place.first].path, job.targets[place.second].label, names, reporter);
  }
}

} // namespace oclcc
