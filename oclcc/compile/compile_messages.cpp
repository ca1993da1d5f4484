#include "compile/compile_steps.hpp"

#include "build_log/diagnostics.hpp"
#include "opencl/driver.hpp"
#include "source/source_closing.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace oclcc {

namespace {

// Messages show files as they are called here, whatever -ffile-prefix-map puts into the binaries.
void name_as_the_user_does(std::vector<Diagnostic>& diagnostics,
                           const std::map<std::string, std::string>& mapped_names) {
  for (Diagnostic& diagnostic : diagnostics) {
    const auto found = mapped_names.find(diagnostic.file);
    if (found != mapped_names.end()) {
      diagnostic.file = found->second;
    }
  }
}

// With -w and -Werror heeded, which not every driver does. `map` is of the unit's source.
std::vector<Diagnostic> parse_log_of(const Job& job, std::size_t unit, const SourceMap& map) {
  const UnitPlace& place = job.places[unit];
  std::vector<Diagnostic> diagnostics = parse_build_log(job.results[unit].reply->log, map);
  name_as_the_user_does(diagnostics, job.programs[place.program].mapped_names);
  apply_warning_policy(diagnostics, warning_policy(unit_options(job, place).words()));
  return diagnostics;
}

bool is_error(const Diagnostic& diagnostic) {
  return diagnostic.severity == Severity::error;
}

bool has_error(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), is_error);
}

// Names devices unless every device of the run reported the same.
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
    if (job.places[unit].program != program || !job.results[unit].reply ||
        is_absent_variant(job, unit) || is_left_to_source(job, unit)) {
      continue;
    }
    for (const Diagnostic& diagnostic : job.diagnostics[unit]) {
      all.push_back(diagnostic);
      all.back().devices = {place_label(job, job.places[unit])};
    }
  }
  std::vector<Diagnostic> merged = merge_diagnostics(std::move(all));
  drop_needless_devices(merged, source_unit_count(job, program));
  for (const Diagnostic& diagnostic : merged) {
    reporter.diagnostic(diagnostic);
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

// Prints one warning per variant, which names the devices. The errors are its notes, because the
// run succeeds.
void report_absent_variant(const Job& job, std::size_t program, std::size_t variant,
                           Reporter& reporter) {
  Diagnostic warning{Severity::warning, job.programs[program].path};
  warning.text = fmt::format("variant '{}' does not compile and is omitted [-Wvariant]",
                             job.variants[variant].name);
  std::vector<Diagnostic> errors;
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const UnitPlace& place = job.places[unit];
    if (place.program != program || place.variant != variant || !is_absent_variant(job, unit)) {
      continue;
    }
    warning.devices.push_back(job.targets[place.target].label);
    const auto& diagnostics = job.diagnostics[unit];
    std::copy_if(diagnostics.begin(), diagnostics.end(), std::back_inserter(errors), is_error);
  }
  if (warning.devices.empty()) {
    return;
  }
  reporter.diagnostic(warning);
  for (Diagnostic& error : merge_diagnostics(std::move(errors))) {
    error.severity = Severity::note;
    reporter.diagnostic(error);
  }
}

// Whether a failure is an error, or a note to the warning about an optional program.
enum class ToldAs : std::uint8_t { error, note };

// Prints a failure that no diagnostic explains.
void report_failure(const Job& job, std::size_t unit, ToldAs told_as, Reporter& reporter) {
  const UnitPlace& place = job.places[unit];
  const UnitResult& result = job.results[unit];
  const Program& program = job.programs[place.program];
  const std::string device = job.targets[place.target].label;
  const auto tell = [&](const std::string& text) {
    const std::string line = fmt::format("{}: {}", program.path, text);
    told_as == ToldAs::error ? reporter.error(line) : reporter.explain(line);
  };
  if (!result.reply) {
    tell(result.failure);
    note_lines("it printed: ", result.driver_output, reporter);
    return;
  }
  if (!result.reply->error.empty()) {
    tell(fmt::format("'{}': {}", device, result.reply->error));
    return;
  }
  if (result.reply->cl_code != 0 && !has_error(job.diagnostics[unit])) {
    tell(fmt::format("the compiler of '{}' rejects it: {} returned {}", device, result.reply->stage,
                     clbin::opencl::cl_error_name(result.reply->cl_code)));
    note_lines("its build log: ", result.reply->log, reporter);
  }
}

// Skipped units have nothing to report: their inputs have, or are nothing to convert.
bool is_skipped(const Job& job, std::size_t unit) {
  return job.results[unit].state == UnitResult::State::skipped;
}

bool is_required(const Job& job, std::size_t unit) {
  return !is_skipped(job, unit) && !is_absent_variant(job, unit) &&
         job.programs[job.places[unit].program].need == ProgramNeed::required;
}

void report_failures(const Job& job, std::size_t program, Reporter& reporter) {
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (job.places[unit].program == program && is_required(job, unit)) {
      report_failure(job, unit, ToldAs::error, reporter);
    }
  }
}

// Prints one warning, which names the devices. The errors are its notes, because the run succeeds.
void report_left_to_source(const Job& job, std::size_t program, Reporter& reporter) {
  Diagnostic warning{Severity::warning, job.programs[program].path};
  warning.text = fmt::format(
      "optional program '{}' does not compile: it is built from source when it is loaded",
      job.programs[program].name);
  std::vector<std::size_t> units;
  std::vector<Diagnostic> errors;
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (job.places[unit].program != program || !is_left_to_source(job, unit)) {
      continue;
    }
    units.push_back(unit);
    warning.devices.push_back(place_label(job, job.places[unit]));
    for (const Diagnostic& diagnostic : job.diagnostics[unit]) {
      if (is_error(diagnostic)) {
        errors.push_back(diagnostic);
        errors.back().devices = {warning.devices.back()};
      }
    }
  }
  if (units.empty()) {
    return;
  }
  std::vector<Diagnostic> merged = merge_diagnostics(std::move(errors));
  drop_needless_devices(merged, units.size());
  reporter.diagnostic(warning);
  for (Diagnostic& error : merged) {
    error.severity = Severity::note;
    reporter.diagnostic(error);
  }
  for (const std::size_t unit : units) {
    report_failure(job, unit, ToldAs::note, reporter);
  }
}

// The PTX of the unit remains.
void report_missing_cubins(const Job& job, std::size_t program, Reporter& reporter) {
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const UnitPlace& place = job.places[unit];
    if (place.program != program || !job.targets[place.target].input || is_skipped(job, unit) ||
        is_built(job.results[unit]) || job.programs[program].need == ProgramNeed::required) {
      continue;
    }
    reporter.warning(fmt::format("{}: optional program '{}' has no cubin for '{}'",
                                 job.programs[program].path, job.programs[program].name,
                                 job.targets[place.target].label));
    report_failure(job, unit, ToldAs::note, reporter);
  }
}

std::string format_of(const clbin::base::KeptBytes& binary, std::string_view platform) {
  const auto bytes = binary.read();
  return bytes ? clbin::format::describe(clbin::format::classify_binary(bytes->view()), platform)
               : bytes.error().message;
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
    reporter.warning(fmt::format("{}: it contains no kernel", job.programs[program].path));
  }
}

} // namespace

namespace {

// Skips a unit whose input is not used after all.
void skip_without_input(Job& job, std::size_t unit) {
  const auto input = input_place(job, unit);
  if (!input || is_built(job.results[*input])) {
    return;
  }
  job.results[unit] = {};
  job.results[unit].state = UnitResult::State::skipped;
  job.binaries[unit] = {};
}

} // namespace

void read_build_logs(Job& job) {
  job.diagnostics.resize(job.results.size());
  std::map<const clbin::format::SourcePackage*, SourceMap> maps;
  for (std::size_t unit = 0; unit < job.results.size(); ++unit) {
    UnitResult& result = job.results[unit];
    skip_without_input(job, unit);
    if (!result.reply || result.reply->log.empty()) {
      continue;
    }
    const auto* const source = unit_source(job, job.places[unit]).get();
    job.diagnostics[unit] =
        parse_log_of(job, unit, maps.try_emplace(source, *source).first->second);
    if (job.bundle) {
      result.reply->log = clbin::source::with_open_names(result.reply->log);
    }
    if (is_built(result) && has_error(job.diagnostics[unit])) {
      result.reply->cl_code = CL_BUILD_PROGRAM_FAILURE;
    }
  }
}

void report_text(std::string_view title, std::string_view text, Reporter& reporter) {
  if (!text.empty()) {
    reporter.verbose(fmt::format("{}:\n{}", title, text));
  }
}

bool report_results(const Job& job, Reporter& reporter) {
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    const std::string label = printable(unit_label(job, job.places[unit]));
    if (!job.cache_notes[unit].empty()) {
      reporter.verbose(fmt::format("{}: compile cache: {}", label, job.cache_notes[unit]));
    }
    if (!job.remote_notes[unit].empty()) {
      reporter.verbose(fmt::format("{}: remote cache: {}", label, job.remote_notes[unit]));
    }
    report_text(label + ": the driver printed", job.results[unit].driver_output, reporter);
    if (job.results[unit].reply) {
      report_text(label + ": build log", job.results[unit].reply->log, reporter);
    }
    if (is_built(job.results[unit]) && reporter.verbosity() == Verbosity::verbose) {
      const auto& identity = job.targets[job.places[unit].target].target.identity;
      reporter.verbose(fmt::format("{}: {}, {} bytes", label,
                                   format_of(job.binaries[unit], identity.platform_name),
                                   job.binaries[unit].size_bytes()));
    }
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
  for (std::size_t unit = 0; unit < job.results.size(); ++unit) {
    if (!is_built(job.results[unit]) && is_required(job, unit)) {
      return false;
    }
  }
  return true;
}

} // namespace oclcc
