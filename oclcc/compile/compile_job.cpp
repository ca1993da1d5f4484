#include "compile/compile_job.hpp"

#include "remote/remote_key.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

namespace oclcc {

using clbin::base::Result;

namespace {

void plan_units(Job& job) {
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    for (const std::size_t v : variants_of(job, p)) {
      for (std::size_t t = 0; t < job.targets.size(); ++t) {
        job.places.push_back({p, v, t});
      }
    }
  }
}

// Identical units once: PoCL answers a second build of one in the same process from its cache,
// without the warnings.
struct DistinctUnits {
  std::vector<PlannedUnit> units;        // their inputs are of these units
  std::vector<CacheUnit> cached;         // as units
  std::vector<std::size_t> first_places; // indexed like units: the first place of each
  std::vector<std::size_t> of_places;    // as Job::places: the place's unit
};

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

// Finds the distinct units, place by place.
class UnitFinder {
public:
  // `remote` is null if the units need no keys of the remote cache.
  UnitFinder(const Job& job, const CompilerFacts& facts, const remote::RemoteKeys* remote)
      : m_job(job), m_facts(facts), m_remote(remote), m_library_stamps(library_stamps(job)) {}

  void add(std::size_t place_index) {
    const UnitPlace& place = m_job.places[place_index];
    const BuildTarget& target = m_job.targets[place.target];
    PlannedUnit planned;
    planned.unit = {target.compiler_target, nullptr, unit_options(m_job, place)};
    planned.compiler = target.compiler;
    clbin::cache::Recipe recipe;
    if (const auto input = input_place(m_job, place_index)) {
      planned.input = m_distinct.of_places[*input];
      recipe = converted_recipe(subject_of(m_job, place), m_distinct.cached[*planned.input].recipe,
                                target.compiler_facts);
    } else {
      planned.unit.source = unit_source(m_job, place);
      planned.unit.specializations = unit_specializations(m_job, place);
      recipe = target.device
                   ? unit_recipe(subject_of(m_job, place), planned.unit, *target.device,
                                 m_library_stamps[place.target], m_facts)
                   : offline_unit_recipe(subject_of(m_job, place), planned.unit, target.target.spec,
                                         target.compiler_facts, m_facts);
    }
    add(place_index, std::move(planned), std::move(recipe));
  }

  [[nodiscard]] DistinctUnits take() { return std::move(m_distinct); }

private:
  void add(std::size_t place_index, PlannedUnit planned, clbin::cache::Recipe recipe) {
    const UnitPlace& place = m_job.places[place_index];
    const auto key = clbin::cache::recipe_key(recipe);
    const auto [found, is_new] = m_known.emplace(key, m_distinct.units.size());
    m_distinct.of_places.push_back(found->second);
    if (is_new) {
      m_distinct.cached.push_back({std::move(recipe), key, m_job.programs[place.program].name,
                                   planned.unit.options.text(), m_job.targets[place.target].target,
                                   remote_key(planned, place.target)});
      m_distinct.units.push_back(std::move(planned));
      m_distinct.first_places.push_back(place_index);
    }
  }

  [[nodiscard]] std::optional<clbin::base::Digest> remote_key(const PlannedUnit& planned,
                                                              std::size_t target) const {
    if (m_remote == nullptr) {
      return std::nullopt;
    }
    return planned.input
               ? m_remote->converted_key(m_distinct.cached[*planned.input].remote_key, target)
               : m_remote->key_of(planned.unit, target);
  }

  const Job& m_job;
  const CompilerFacts& m_facts;
  const remote::RemoteKeys* m_remote;
  std::vector<std::string> m_library_stamps;
  std::map<clbin::base::Digest, std::size_t> m_known;
  DistinctUnits m_distinct;
};

DistinctUnits find_distinct_units(const Job& job, const CompilerFacts& facts,
                                  const remote::RemoteKeys* remote) {
  UnitFinder finder(job, facts, remote);
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    finder.add(place);
  }
  return finder.take();
}

// Of the units of a run, by their numbers, as soon as each is there.
class BinaryStore {
public:
  BinaryStore(std::size_t units, std::shared_ptr<clbin::base::SpillFile> file)
      : m_file(std::move(file)), m_binaries(units) {}

  // Takes the binary out of `result`.
  void take(std::size_t unit, UnitResult& result) {
    if (!is_built(result)) {
      return;
    }
    clbin::base::Bytes binary = std::exchange(result.reply->binary, {});
    if (m_file) {
      if (auto kept = clbin::base::KeptBytes::spill(m_file, binary)) {
        m_binaries[unit] = *std::move(kept);
        return;
      }
      m_file.reset(); // the disk is full: use memory
    }
    m_binaries[unit] = std::move(binary);
  }

  [[nodiscard]] const clbin::base::KeptBytes& at(std::size_t unit) const {
    return m_binaries[unit];
  }

private:
  std::shared_ptr<clbin::base::SpillFile> m_file;
  std::vector<clbin::base::KeptBytes> m_binaries;
};

// The results of the units in the caches, and notes for each unit.
struct CacheAnswers {
  std::vector<UnitResult> results;       // as DistinctUnits::units; empty where there is none
  std::vector<std::string> notes;        // as results
  std::vector<std::string> remote_notes; // as results
  std::vector<std::size_t> misses;       // units
};

// `present`: look up only the units that the cache seems to contain. A miss that is looked up is
// counted, and compared with the last build.
enum class LookUpOf : std::uint8_t { all, present };

CacheAnswers look_up(const DistinctUnits& distinct, CompileCache& cache, BinaryStore& binaries,
                     LookUpOf wanted) {
  CacheAnswers answers;
  answers.results.resize(distinct.units.size());
  answers.notes.resize(distinct.units.size());
  answers.remote_notes.resize(distinct.units.size());
  for (std::size_t unit = 0; unit < distinct.units.size(); ++unit) {
    CacheAnswer answer;
    const CacheUnit& cached = distinct.cached[unit];
    if (cache.is_on() && (wanted == LookUpOf::all || cache.contains(cached))) {
      answer = cache.look_up(cached);
    }
    answers.notes[unit] = std::move(answer.note);
    if (answer.result) {
      answers.results[unit] = *std::move(answer.result);
      binaries.take(unit, answers.results[unit]);
    } else {
      answers.misses.push_back(unit);
    }
  }
  return answers;
}

// Looks up all misses in the remote cache before anything is built: several at once, which wait for
// the network instead of a processor, and without starting compilers for units that are there.
void look_up_remotely(const DistinctUnits& distinct, CompileCache& cache, BinaryStore& binaries,
                      CacheAnswers& answers) {
  const std::vector<std::size_t> missed = std::exchange(answers.misses, {});
  std::vector<const CacheUnit*> units;
  units.reserve(missed.size());
  for (const std::size_t unit : missed) {
    units.push_back(&distinct.cached[unit]);
  }
  cache.look_up_remotely(units, [&](std::size_t index, CacheAnswer answer) {
    const std::size_t unit = missed[index];
    answers.remote_notes[unit] = std::move(answer.note);
    if (answer.result) {
      answers.results[unit] = *std::move(answer.result);
      binaries.take(unit, answers.results[unit]);
    }
  });
  std::ranges::copy_if(missed, std::back_inserter(answers.misses),
                       [&](std::size_t unit) { return !is_built(answers.results[unit]); });
}

// Fills what `job` has for each place.
void keep_answers(Job& job, const DistinctUnits& distinct, const CacheAnswers& answers,
                  const BinaryStore& binaries) {
  for (const std::size_t unit : distinct.of_places) {
    job.keys.push_back(distinct.cached[unit].key);
    job.results.push_back(answers.results[unit]);
    job.binaries.push_back(binaries.at(unit));
    job.cache_notes.push_back(answers.notes[unit]);
    job.remote_notes.push_back(answers.remote_notes[unit]);
  }
}

// What units take from the units that they convert. Each element is set before its readers start.
class ConversionInputs {
public:
  ConversionInputs(const DistinctUnits& distinct, const BinaryStore& binaries)
      : m_distinct(distinct), m_binaries(binaries) {
    for (const PlannedUnit& planned : distinct.units) {
      if (planned.input) {
        m_kernels[*planned.input];
      }
    }
  }

  void note(std::size_t unit, const UnitResult& result) {
    const auto found = m_kernels.find(unit);
    if (found != m_kernels.end() && is_built(result)) {
      found->second = result.reply->kernels;
    }
  }

  // Adds the input of `unit`, if it has one. Returns errors of reading binaries.
  [[nodiscard]] Result<void> complete(std::size_t unit, Unit& complete) const {
    const auto& input = m_distinct.units[unit].input;
    if (!input) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const clbin::base::ByteRegion binary, m_binaries.at(*input).read());
    complete.binary =
        std::make_shared<const clbin::base::Bytes>(binary.view().begin(), binary.view().end());
    complete.kernels = m_kernels.at(*input);
    return {};
  }

private:
  const DistinctUnits& m_distinct;
  const BinaryStore& m_binaries;
  // Of the units that others convert. No element is added while compilers run.
  std::map<std::size_t, std::vector<clbin::format::KernelReflection>> m_kernels;
};

// The units that the cache does not contain.
BuildPlan plan_misses(const Job& job, const Options& options, const DistinctUnits& distinct,
                      const std::vector<std::size_t>& misses) {
  BuildPlan plan;
  plan.compilers = job.compilers;
  plan.jobs = worker_count(options);
  std::map<std::size_t, std::size_t> numbers; // of the planned units, by distinct unit
  for (const std::size_t unit : misses) {
    numbers.emplace(unit, plan.units.size());
    plan.units.push_back(distinct.units[unit]);
  }
  for (PlannedUnit& planned : plan.units) {
    const auto number = planned.input ? numbers.find(*planned.input) : numbers.end();
    planned.input = number == numbers.end() ? std::nullopt : std::optional(number->second);
  }
  return plan;
}

// Those of `plan`, which are those of `misses`, with the progress told.
std::vector<UnitResult> build_misses(const Job& job, const DistinctUnits& distinct,
                                     const std::vector<std::size_t>& misses, const BuildPlan& plan,
                                     BinaryStore& binaries, ConversionInputs& inputs,
                                     Reporter& reporter) {
  const auto begin = std::chrono::steady_clock::now();
  const auto show = [&](std::size_t done, std::size_t index) {
    const UnitPlace& place = job.places[distinct.first_places[misses[index]]];
    const Progress progress{done, misses.size(),
                            std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::steady_clock::now() - begin),
                            printable(unit_label(job, place))};
    reporter.progress(progress_line_with_time(progress));
    if (done > 0) {
      reporter.verbose(progress_line(progress));
    }
  };
  if (!misses.empty()) {
    show(0, 0);
  }
  const auto finish = [&](std::size_t done, std::size_t index, UnitResult& result) {
    binaries.take(misses[index], result);
    inputs.note(misses[index], result);
    show(done, index);
  };
  std::vector<UnitResult> results = build_units(plan, finish);
  reporter.end_progress();
  return results;
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

const std::shared_ptr<const clbin::format::SourcePackage>& unit_source(const Job& job,
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

std::optional<std::size_t> input_place(const Job& job, std::size_t place_index) {
  const UnitPlace& place = job.places[place_index];
  const auto& input = job.targets[place.target].input;
  // The places of a variant are beside each other, in the order of their targets.
  return input ? std::optional(place_index - (place.target - *input)) : std::nullopt;
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

bool is_absent_variant(const Job& job, std::size_t unit) {
  const UnitResult& result = job.results[unit];
  const bool refused = result.reply && result.reply->error.empty() && result.reply->cl_code != 0;
  const UnitPlace& place = job.places[unit];
  if (!refused || job.absent_variants == AbsentVariants::refuse ||
      job.programs[place.program].need == ProgramNeed::optional) {
    return false;
  }
  bool target_builds_program = false;
  bool variant_is_built = false;
  for (std::size_t other = 0; other < job.places.size(); ++other) {
    const UnitPlace& there = job.places[other];
    if (there.program == place.program && is_built(job.results[other])) {
      target_builds_program |= there.target == place.target;
      variant_is_built |= there.variant == place.variant;
    }
  }
  return target_builds_program && variant_is_built;
}

bool is_left_to_source(const Job& job, std::size_t unit) {
  const UnitPlace& place = job.places[unit];
  return !is_built(job.results[unit]) && !job.targets[place.target].input &&
         job.programs[place.program].need == ProgramNeed::optional;
}

void build_job(Job& job, const Options& options, const CompilerFacts& facts,
               const std::filesystem::path& executable, CompileCache& cache, Reporter& reporter) {
  plan_units(job);
  std::optional<remote::RemoteKeys> remote;
  if (cache.has_remote() && job.contents) {
    remote.emplace(facts, executable, job.targets, *job.contents, remote::read_cpuinfo());
  }
  const DistinctUnits distinct = find_distinct_units(job, facts, remote ? &*remote : nullptr);
  BinaryStore binaries(distinct.units.size(), job.spill);
  CacheAnswers answers = look_up(distinct, cache, binaries, LookUpOf::all);
  if (cache.has_remote()) {
    look_up_remotely(distinct, cache, binaries, answers);
  }
  const auto& misses = answers.misses;
  if (job.sources && !misses.empty()) {
    job.sources->start();
  }
  ConversionInputs inputs(distinct, binaries);
  for (std::size_t unit = 0; unit < distinct.units.size(); ++unit) {
    inputs.note(unit, answers.results[unit]);
  }
  BuildPlan plan = plan_misses(job, options, distinct, misses);
  plan.complete = [&](std::size_t index, Unit& unit) {
    return inputs.complete(misses[index], unit);
  };
  if (cache.is_on() || cache.has_remote()) {
    plan.make = [&](std::size_t index, const std::function<UnitResult()>& build) {
      const std::size_t unit = misses[index];
      return cache.build(distinct.cached[unit], build, answers.notes[unit]);
    };
  }
  std::vector<UnitResult> built =
      build_misses(job, distinct, misses, plan, binaries, inputs, reporter);
  job.compilers.clear(); // ends workers that are no longer needed
  for (std::size_t index = 0; index < misses.size(); ++index) {
    answers.results[misses[index]] = std::move(built[index]);
  }
  keep_answers(job, distinct, answers, binaries);
}

void look_up_job(Job& job, const CompilerFacts& facts, CompileCache& cache) {
  plan_units(job);
  const DistinctUnits distinct = find_distinct_units(job, facts, nullptr);
  BinaryStore binaries(distinct.units.size(), job.spill);
  const CacheAnswers answers = look_up(distinct, cache, binaries, LookUpOf::present);
  keep_answers(job, distinct, answers, binaries);
}

} // namespace oclcc
