#include "compile/compile_job.hpp"

#include "terminal/terminal_text.hpp"

#include <numeric>
#include <system_error>

namespace oclcc {

namespace {

// Equal units are one: PoCL answers a second build of a unit in the same process from its cache,
// without the warnings.
struct DistinctUnit {
  PlannedUnit planned; // its input is a number of a distinct unit
  CacheUnit cached;
  std::vector<JobUnit*> units; // at least one
  UnitResult result{};         // without the binary; empty if there is none
  base::KeptBytes binary{};
  std::string cache_note{};
  std::string remote_note{};
};
using DistinctUnits = std::vector<DistinctUnit>;

// The comparison for a miss: the last build of this file, in this variant, for this target, with
// any driver version.
std::string subject_of(const Job& job, const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  std::error_code error; // the working directory was removed
  const auto path = std::filesystem::absolute(program.path, error).lexically_normal();
  const BuildTarget& target = job.targets[place.target];
  const auto& identity = target.target.identity;
  if (!target.device) {
    return fmt::format("{} / {} / {} / {}", error ? program.path : path.string(), program.name,
                       job.variants[place.variant].name, target.target.spec);
  }
  return fmt::format("{} / {} / {} / {} / {}{}", error ? program.path : path.string(), program.name,
                     job.variants[place.variant].name, identity.platform_name, identity.device_name,
                     target.form.empty() ? "" : " / " + target.form);
}

// Files that may change without another name: drivers' libraries, indexed by target.
std::vector<std::string> library_stamps(const Job& job) {
  std::vector<std::string> stamps;
  for (const BuildTarget& target : job.targets) {
    stamps.push_back(target.device ? file_stamp(target.device->driver_library) : std::string());
  }
  return stamps;
}

// Fills the units of a job, and finds those that are distinct.
class UnitFinder {
public:
  // `remote` is null if the units need no keys of the remote cache.
  UnitFinder(Job& job, const CompilerFacts& facts, const RemoteKeys* remote)
      : m_job(job), m_facts(facts), m_remote(remote), m_library_stamps(library_stamps(job)) {}

  [[nodiscard]] DistinctUnits find() {
    for (std::size_t p = 0; p < m_job.programs.size(); ++p) {
      for (const std::size_t v : variants_of(m_job, p)) {
        for (std::size_t t = 0; t < m_job.targets.size(); ++t) {
          m_job.units.push_back({{p, v, t}});
        }
      }
    }
    for (JobUnit& unit : m_job.units) {
      add(unit);
    }
    return std::move(m_distinct);
  }

private:
  void add(JobUnit& unit) {
    const UnitPlace& place = unit.place;
    const BuildTarget& target = m_job.targets[place.target];
    PlannedUnit planned;
    planned.unit = {target.compiler_target, nullptr, unit_options(m_job, place)};
    planned.compiler = target.compiler;
    std::string subject = subject_of(m_job, place);
    clbin::cache::Recipe recipe;
    if (const JobUnit* const input = input_of(m_job, unit)) {
      planned.input = m_numbers.at(input->key);
      recipe = converted_recipe(std::move(subject), m_distinct[*planned.input].cached.recipe,
                                target.compiler_facts);
    } else {
      planned.unit.source = unit_source(m_job, place);
      planned.unit.specializations = unit_specializations(m_job, place);
      recipe = target.device
                   ? unit_recipe(std::move(subject), planned.unit, *target.device,
                                 m_library_stamps[place.target], m_facts)
                   : offline_unit_recipe(std::move(subject), planned.unit, target.target.spec,
                                         target.compiler_facts, m_facts);
    }
    unit.key = clbin::cache::recipe_key(recipe);
    const auto [known, is_new] = m_numbers.emplace(unit.key, m_distinct.size());
    if (is_new) {
      CacheUnit cached{
          std::move(recipe),           unit.key,      m_job.programs[place.program].name,
          planned.unit.options.text(), target.target, remote_key(planned, place.target)};
      m_distinct.push_back({std::move(planned), std::move(cached), {}});
    }
    m_distinct[known->second].units.push_back(&unit);
  }

  [[nodiscard]] std::optional<base::Digest> remote_key(const PlannedUnit& planned,
                                                       std::size_t target) const {
    if (m_remote == nullptr) {
      return std::nullopt;
    }
    return planned.input
               ? m_remote->converted_key(m_distinct[*planned.input].cached.remote_key, target)
               : m_remote->key_of(planned.unit, target);
  }

  Job& m_job;
  const CompilerFacts& m_facts;
  const RemoteKeys* m_remote;
  std::vector<std::string> m_library_stamps;
  std::map<base::Digest, std::size_t> m_numbers; // of the distinct units, by their keys
  DistinctUnits m_distinct;
};

// Moves `result` to its unit, and its binary to `spill`, or to memory if that is null.
void keep_result(DistinctUnit& unit, UnitResult& result, std::shared_ptr<base::SpillFile>& spill) {
  if (is_built(result)) {
    base::Bytes binary = std::exchange(result.reply->binary, {});
    if (spill) {
      if (auto kept = base::KeptBytes::spill(spill, binary)) {
        unit.binary = *std::move(kept);
      } else {
        spill.reset(); // the disk is full
      }
    }
    if (!spill) {
      unit.binary = std::move(binary);
    }
  }
  unit.result = std::move(result);
}

// `present`: look up only the units that the cache seems to contain. A miss that is looked up is
// counted, and compared with the last build.
enum class LookUpOf : std::uint8_t { all, present };

void look_up(DistinctUnits& units, CompileCache& cache, std::shared_ptr<base::SpillFile>& spill,
             LookUpOf wanted) {
  for (DistinctUnit& unit : units) {
    if (cache.is_on() && (wanted == LookUpOf::all || cache.contains(unit.cached))) {
      CacheAnswer answer = cache.look_up(unit.cached);
      unit.cache_note = std::move(answer.note);
      if (answer.result) {
        keep_result(unit, *answer.result, spill);
      }
    }
  }
}

std::vector<DistinctUnit*> misses_among(DistinctUnits& units) {
  std::vector<DistinctUnit*> misses;
  for (DistinctUnit& unit : units) {
    if (!is_built(unit.result)) {
      misses.push_back(&unit);
    }
  }
  return misses;
}

// Looks up all misses in the remote cache before anything is built: several at once, which wait for
// the network instead of a processor, and without starting compilers for units that are there.
void look_up_remotely(DistinctUnits& units, CompileCache& cache,
                      std::shared_ptr<base::SpillFile>& spill) {
  const std::vector<DistinctUnit*> misses = misses_among(units);
  std::vector<const CacheUnit*> wanted;
  wanted.reserve(misses.size());
  for (const DistinctUnit* const unit : misses) {
    wanted.push_back(&unit->cached);
  }
  cache.look_up_remotely(wanted, [&](std::size_t index, CacheAnswer answer) {
    misses[index]->remote_note = std::move(answer.note);
    if (answer.result) {
      keep_result(*misses[index], *answer.result, spill);
    }
  });
}

// Adds to `unit` the binary that it converts, if it converts one. Returns errors of reading it.
Result<void> add_input(const DistinctUnits& units, const DistinctUnit& distinct, Unit& unit) {
  if (!distinct.planned.input) {
    return {};
  }
  const DistinctUnit& input = units[*distinct.planned.input];
  CLBIN_TRY_ASSIGN(const base::ByteRegion binary, input.binary.read());
  unit.binary = std::make_shared<const base::Bytes>(binary.view().begin(), binary.view().end());
  unit.kernels = input.result.reply->kernels;
  return {};
}

BuildPlan plan_misses(const Job& job, const Options& options, const DistinctUnits& units,
                      const std::vector<DistinctUnit*>& misses) {
  BuildPlan plan;
  plan.compilers = job.compilers;
  plan.jobs = worker_count(options);
  for (const DistinctUnit* const unit : misses) {
    PlannedUnit& planned = plan.units.emplace_back(unit->planned);
    if (planned.input) { // there already, if it is no miss
      const auto input = std::ranges::lower_bound(misses, &units[*planned.input]);
      const bool is_miss = input != misses.end() && *input == &units[*planned.input];
      planned.input =
          is_miss ? std::optional(static_cast<std::size_t>(input - misses.begin())) : std::nullopt;
    }
  }
  return plan;
}

// Builds the misses that `plan` contains, and shows the progress.
void build_misses(const Job& job, const std::vector<DistinctUnit*>& misses, const BuildPlan& plan,
                  std::shared_ptr<base::SpillFile>& spill, Reporter& reporter) {
  const auto begin = std::chrono::steady_clock::now();
  const auto show = [&](std::size_t done, std::size_t index) {
    const Progress progress{done, misses.size(),
                            std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::steady_clock::now() - begin),
                            printable(unit_label(job, misses[index]->units.front()->place))};
    reporter.progress(progress_line_with_time(progress));
    if (done > 0) {
      reporter.verbose(progress_line(progress));
    }
  };
  if (!misses.empty()) {
    show(0, 0);
  }
  (void)build_units(plan, [&](std::size_t done, std::size_t index, UnitResult& result) {
    keep_result(*misses[index], result, spill);
    show(done, index);
  });
  reporter.end_progress();
}

void hand_out_results(const DistinctUnits& units) {
  for (const DistinctUnit& distinct : units) {
    for (JobUnit* const unit : distinct.units) {
      unit->result = distinct.result;
      unit->binary = distinct.binary;
      unit->cache_note = distinct.cache_note;
      unit->remote_note = distinct.remote_note;
    }
  }
}

} // namespace

std::vector<std::size_t> variants_of(const Job& job, std::size_t program) {
  std::vector<std::size_t> variants;
  const auto& recorded = job.programs[program].recorded;
  if (recorded.empty()) {
    variants.resize(job.variants.size());
    std::iota(variants.begin(), variants.end(), std::size_t{0});
  }
  for (const auto& [variant, contents] : recorded) {
    variants.push_back(variant);
  }
  return variants;
}

const std::shared_ptr<const format::SourcePackage>& unit_source(const Job& job,
                                                                const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  return program.recorded.empty() ? program.source : program.recorded.at(place.variant).source;
}

std::vector<Specialization> unit_specializations(const Job& job, const UnitPlace& place) {
  std::vector<Specialization> all = job.specializations;
  const Program& program = job.programs[place.program];
  if (!program.recorded.empty()) {
    for (const Specialization& recorded : program.recorded.at(place.variant).specializations) {
      add_specialization(all, recorded);
    }
  }
  return all;
}

const BuildOptions& unit_options(const Job& job, const UnitPlace& place) {
  const VariantOptions& variant = job.variants[place.variant];
  return variant.target_options.empty() ? variant.options : variant.target_options[place.target];
}

std::size_t source_unit_count(const Job& job, std::size_t program) {
  const auto is_source = [](const BuildTarget& target) { return !target.input; };
  return static_cast<std::size_t>(
             std::count_if(job.targets.begin(), job.targets.end(), is_source)) *
         variants_of(job, program).size();
}

std::string place_label(const Job& job, const UnitPlace& place) {
  const std::string& target = job.targets[place.target].label;
  return variants_of(job, place.program).size() == 1
             ? target
             : fmt::format("{} · {}", target, job.variants[place.variant].name);
}

std::string unit_label(const Job& job, const UnitPlace& place) {
  const BuildTarget& target = job.targets[place.target];
  const std::string form = target.form.empty() ? "" : " · " + target.form;
  const std::string variant = variants_of(job, place.program).size() == 1
                                  ? ""
                                  : fmt::format(" · {}", job.variants[place.variant].name);
  return fmt::format("{}{} · {}{}", target.label, form, job.programs[place.program].path, variant);
}

bool is_absent_variant(const Job& job, const JobUnit& unit) {
  const auto& [reply, failure, driver_output, state] = unit.result;
  const bool refused = reply && reply->error.empty() && reply->cl_code != 0;
  if (!refused || job.absent_variants == AbsentVariants::refuse ||
      job.programs[unit.place.program].need == ProgramNeed::optional) {
    return false;
  }
  bool target_builds_program = false;
  bool variant_is_built = false;
  for (const JobUnit& other : job.units) {
    if (other.place.program == unit.place.program && is_built(other.result)) {
      target_builds_program |= other.place.target == unit.place.target;
      variant_is_built |= other.place.variant == unit.place.variant;
    }
  }
  return target_builds_program && variant_is_built;
}

bool is_left_to_source(const Job& job, const JobUnit& unit) {
  return !is_built(unit.result) && !job.targets[unit.place.target].input &&
         job.programs[unit.place.program].need == ProgramNeed::optional;
}

void build_job(Job& job, const Options& options, const CompilerFacts& facts,
               const std::filesystem::path& executable, CompileCache& cache, Reporter& reporter) {
  std::optional<RemoteKeys> remote;
  if (cache.has_remote() && job.contents) {
    remote.emplace(facts, executable, job.targets, *job.contents, read_cpuinfo());
  }
  DistinctUnits units = UnitFinder(job, facts, remote ? &*remote : nullptr).find();
  std::shared_ptr<base::SpillFile> spill = job.spill;
  look_up(units, cache, spill, LookUpOf::all);
  if (cache.has_remote()) {
    look_up_remotely(units, cache, spill);
  }
  const std::vector<DistinctUnit*> misses = misses_among(units);
  if (job.sources && !misses.empty()) {
    job.sources->start();
  }
  BuildPlan plan = plan_misses(job, options, units, misses);
  plan.complete = [&](std::size_t index, Unit& unit) {
    return add_input(units, *misses[index], unit);
  };
  if (cache.is_on() || cache.has_remote()) {
    plan.make = [&](std::size_t index, const std::function<UnitResult()>& build) {
      return cache.build(misses[index]->cached, build, misses[index]->cache_note);
    };
  }
  build_misses(job, misses, plan, spill, reporter);
  job.compilers.clear(); // ends workers that are no longer needed
  hand_out_results(units);
}

void look_up_job(Job& job, const CompilerFacts& facts, CompileCache& cache) {
  DistinctUnits units = UnitFinder(job, facts, nullptr).find();
  std::shared_ptr<base::SpillFile> spill = job.spill;
  look_up(units, cache, spill, LookUpOf::present);
  hand_out_results(units);
}

} // namespace oclcc
