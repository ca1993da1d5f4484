#include "compile/compile_job.hpp"

#include "listing/launch_compilation.hpp"
#include "opencl/driver.hpp"
#include "source/source_closing.hpp"
#include "terminal/diagnostics.hpp"
#include "terminal/terminal_text.hpp"

#include <fmt/format.h>
#include <iterator>

namespace oclcc {

using format::KernelReflection;

namespace {

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

// Whether a failed unit, for any reason, belongs to an optional program, which is then built from
// source. False for cubins, without which the PTX remains.
bool is_left_to_source(const Job& job, const JobUnit& unit) {
  return !is_built(unit.result) && !job.targets[unit.place.target].input &&
         job.programs[unit.place.program].need == ProgramNeed::optional;
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

void note_lines(std::string_view before, std::string_view text, Reporter& reporter) {
  for (const std::string_view line : base::split_lines(text)) {
    if (!line.empty()) {
      reporter.explain(fmt::format("{}{}", before, line));
    }
  }
}

// Names devices unless every device of the run reported the same.
std::vector<Diagnostic> merged(std::vector<Diagnostic> diagnostics, std::size_t device_count) {
  std::vector<Diagnostic> result = merge_diagnostics(std::move(diagnostics));
  for (Diagnostic& diagnostic : result) {
    if (std::set(diagnostic.devices.begin(), diagnostic.devices.end()).size() == device_count) {
      diagnostic.devices.clear();
    }
  }
  return result;
}

// What came of the units of one program.
class ProgramReport {
public:
  ProgramReport(const Job& job, std::size_t program, Reporter& reporter)
      : m_job(job), m_program(job.programs[program]), m_variants(variants_of(job, program)),
        m_reporter(reporter) {
    for (const JobUnit& unit : job.units) {
      if (unit.place.program == program) {
        m_units.push_back(&unit);
      }
    }
  }

  void report() {
    report_diagnostics();
    for (const JobUnit* const unit : m_units) {
      if (is_required(*unit)) {
        report_failure(*unit, ToldAs::error);
      }
    }
    report_left_to_source();
    report_missing_cubins();
    for (const std::size_t variant : m_variants) {
      explain_lacking_targets(variant);
      report_absent_variant(variant);
    }
    report_missing_kernels();
  }

  // Whether the failure of the unit is one of the run. Skipped units have nothing to report: their
  // inputs have, or are nothing to convert.
  [[nodiscard]] bool is_required(const JobUnit& unit) const {
    return !is_skipped(unit) && !is_absent_variant(unit) && !is_optional();
  }

  [[nodiscard]] bool has_failed() const {
    return std::ranges::any_of(m_units, [this](const JobUnit* unit) {
      return !is_built(unit->result) && is_required(*unit);
    });
  }

private:
  // Whether a failure is an error, or a note to the warning about an optional program.
  enum class ToldAs : std::uint8_t { error, note };

  [[nodiscard]] bool is_optional() const { return m_program.need == ProgramNeed::optional; }
  [[nodiscard]] const BuildTarget& target_of(const JobUnit& unit) const {
    return m_job.targets[unit.place.target];
  }
  [[nodiscard]] static bool is_skipped(const JobUnit& unit) {
    return unit.result.state == UnitResult::State::skipped;
  }

  // Returns the label of the target, and the variant if the program has several.
  [[nodiscard]] std::string place_label(const JobUnit& unit) const {
    const std::string& target = target_of(unit).label;
    return m_variants.size() == 1
               ? target
               : fmt::format("{} · {}", target, m_job.variants[unit.place.variant].name);
  }

  // Whether a failed unit of a required program is only a variant that its target cannot build.
  // This requires that the compiler reports an error, the target builds another variant of the
  // program, and another target builds this variant.
  [[nodiscard]] bool is_absent_variant(const JobUnit& unit) const {
    const auto& reply = unit.result.reply;
    const bool refused = reply && reply->error.empty() && reply->cl_code != 0;
    if (!refused || m_job.absent_variants == AbsentVariants::refuse || is_optional()) {
      return false;
    }
    bool target_builds_program = false;
    bool variant_is_built = false;
    for (const JobUnit* const other : m_units) {
      if (is_built(other->result)) {
        target_builds_program |= other->place.target == unit.place.target;
        variant_is_built |= other->place.variant == unit.place.variant;
      }
    }
    return target_builds_program && variant_is_built;
  }

  void report_diagnostics() {
    std::vector<Diagnostic> all;
    std::size_t from_source = 0;
    for (const JobUnit* const unit : m_units) {
      from_source += target_of(*unit).input ? 0 : 1;
      if (unit->result.reply && !is_absent_variant(*unit) && !is_left_to_source(m_job, *unit)) {
        for (const Diagnostic& diagnostic : unit->diagnostics) {
          all.push_back(diagnostic);
          all.back().devices = {place_label(*unit)};
        }
      }
    }
    for (const Diagnostic& diagnostic : merged(std::move(all), from_source)) {
      m_reporter.diagnostic(diagnostic);
    }
  }

  // Prints a warning that names its devices, unless it has none. The errors are its notes, because
  // the run succeeds.
  void report_with_notes(const Diagnostic& warning, std::vector<Diagnostic> errors) {
    if (warning.devices.empty()) {
      return;
    }
    m_reporter.diagnostic(warning);
    for (Diagnostic& error : merged(std::move(errors), warning.devices.size())) {
      error.severity = Severity::note;
      m_reporter.diagnostic(error);
    }
  }

  // A target that lacks what the variant requires has no unit.
  void explain_lacking_targets(std::size_t variant) {
    for (std::size_t target = 0; target < m_job.targets.size(); ++target) {
      const std::string lacking = lacking_extensions(m_job, {0, variant, target});
      if (!lacking.empty()) {
        m_reporter.verbose(fmt::format("{}: variant '{}' is not compiled for '{}', which does not "
                                       "have {}",
                                       m_program.path, m_job.variants[variant].name,
                                       m_job.targets[target].label, lacking));
      }
    }
  }

  void report_absent_variant(std::size_t variant) {
    Diagnostic warning{Severity::warning, m_program.path};
    warning.text = fmt::format("variant '{}' does not compile and is omitted [-Wvariant]",
                               m_job.variants[variant].name);
    std::vector<Diagnostic> errors;
    for (const JobUnit* const unit : m_units) {
      if (unit->place.variant == variant && is_absent_variant(*unit)) {
        warning.devices.push_back(target_of(*unit).label);
        std::ranges::copy_if(unit->diagnostics, std::back_inserter(errors), is_error);
      }
    }
    report_with_notes(warning, std::move(errors));
  }

  // Prints a failure that no diagnostic explains.
  void report_failure(const JobUnit& unit, ToldAs told_as) {
    const auto& reply = unit.result.reply;
    const std::string& device = target_of(unit).label;
    const auto tell = [&](const std::string& text) {
      const std::string line = fmt::format("{}: {}", m_program.path, text);
      told_as == ToldAs::error ? m_reporter.error(line) : m_reporter.explain(line);
    };
    if (!reply) {
      tell(unit.result.failure);
      note_lines("it printed: ", unit.result.driver_output, m_reporter);
    } else if (!reply->error.empty()) {
      tell(fmt::format("'{}': {}", device, reply->error));
    } else if (reply->cl_code != 0 && std::ranges::none_of(unit.diagnostics, is_error)) {
      tell(fmt::format("the compiler of '{}' rejects it: {} returned {}", device, reply->stage,
                       clbin::opencl::cl_error_name(reply->cl_code)));
      note_lines("its build log: ", reply->log, m_reporter);
    }
  }

  void report_left_to_source() {
    Diagnostic warning{Severity::warning, m_program.path};
    warning.text = fmt::format(
        "optional program '{}' does not compile: it is built from source when it is loaded",
        m_program.name);
    std::vector<const JobUnit*> units;
    std::vector<Diagnostic> errors;
    for (const JobUnit* const unit : m_units) {
      if (is_left_to_source(m_job, *unit)) {
        units.push_back(unit);
        warning.devices.push_back(place_label(*unit));
        const auto first = static_cast<std::ptrdiff_t>(errors.size());
        std::ranges::copy_if(unit->diagnostics, std::back_inserter(errors), is_error);
        std::for_each(errors.begin() + first, errors.end(),
                      [&](Diagnostic& error) { error.devices = {warning.devices.back()}; });
      }
    }
    report_with_notes(warning, std::move(errors));
    for (const JobUnit* const unit : units) {
      report_failure(*unit, ToldAs::note);
    }
  }

  // The PTX of the unit remains.
  void report_missing_cubins() {
    for (const JobUnit* const unit : m_units) {
      const BuildTarget& target = target_of(*unit);
      if (target.input && !is_skipped(*unit) && !is_built(unit->result) && is_optional()) {
        m_reporter.warning(fmt::format("{}: optional program '{}' has no cubin for '{}'",
                                       m_program.path, m_program.name, target.label));
        report_failure(*unit, ToldAs::note);
      }
    }
  }

  void report_missing_kernels() {
    bool is_any_built = false;
    for (const JobUnit* const unit : m_units) {
      if (is_built(unit->result) && !unit->result.reply->kernels.empty()) {
        return;
      }
      is_any_built |= is_built(unit->result);
    }
    if (is_any_built) {
      m_reporter.warning(fmt::format("{}: it contains no kernel", m_program.path));
    }
  }

  const Job& m_job;
  const Program& m_program;
  std::vector<std::size_t> m_variants;
  Reporter& m_reporter;
  std::vector<const JobUnit*> m_units;
};

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
  const format::GroupSize* required = nullptr;
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
                clbin::listing::to_string(wanted.size), wanted.kernel,
                names.size() == 1 ? "is" : "are",
                names.empty() ? "none" : fmt::format("'{}'", fmt::join(names, "', '")));
  }
  return fail(ErrorCode::invalid_argument,
              "'--specialize {}={}': the kernel requires work-groups of {}", wanted.kernel,
              clbin::listing::to_string(wanted.size), clbin::listing::to_string(*required));
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

// False for a kernel that a recording shows to be of no use to the application.
bool is_launched(const Job& job, const UnitPlace& place, const std::string& kernel) {
  const Program& program = job.programs[place.program];
  if (program.recorded.empty()) {
    return true;
  }
  const std::set<std::string>& launched = program.recorded.at(place.variant).launched;
  return launched.empty() || launched.contains(kernel);
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
  bool has_failed = false;
  for (std::size_t program = 0; program < job.programs.size(); ++program) {
    ProgramReport report(job, program, reporter);
    report.report();
    has_failed = has_failed || report.has_failed();
  }
  return !has_failed;
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
      if (is_launched(job, unit.place, std::string(name))) {
        kernels[{unit.place.program, unit.place.target}].emplace(name);
      }
    }
  }
  for (const auto& [place, names] : kernels) {
    note_kernels(job.programs[place.first].path, job.targets[place.second].label, names, reporter);
  }
}

} // namespace oclcc
