#include "compile/compile_job.hpp"

#include "loader/load_session.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/key_files.hpp"

#include <fmt/format.h>
#include <numeric>
#include <system_error>

namespace oclcc {

namespace {

// Equal units are one: PoCL answers a second build of a unit in the same process from its cache,
// without the warnings.
struct DistinctUnit : UnitOutcome {
  PlannedUnit planned; // its input is a number of a distinct unit
  CacheUnit cached;
  std::vector<JobUnit*> units; // at least one
};

// The comparison for a miss: the last build of this file, in this variant, for this target, with
// any driver version.
std::string subject_of(const Job& job, const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  std::error_code error; // the working directory was removed
  const auto path = std::filesystem::absolute(program.path, error).lexically_normal();
  const BuildTarget& target = job.targets[place.target];
  const auto& [origin, identity, spec] = target.target;
  const std::string name =
      !target.device ? spec
                     : fmt::format("{} / {}{}", identity.platform_name, identity.device_name,
                                   target.form.empty() ? "" : " / " + target.form);
  return fmt::format("{} / {} / {} / {}", error ? program.path : path.string(), program.name,
                     job.variants[place.variant].name, name);
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

// What --launched-only leaves of a text is not certain to have the launched kernels
// (without_functions in source/words.hpp).
void require_launched_kernels(const Job& job, JobUnit& unit) {
  const Program& program = job.programs[unit.place.program];
  if (program.recorded.empty() || !is_built(unit.result)) {
    return;
  }
  const RecordedVariant& variant = program.recorded.at(unit.place.variant);
  if (variant.kernels == KernelChoice::all) {
    return;
  }
  const auto& kernels = unit.result.reply->kernels;
  for (const std::string& name : variant.launched) {
    if (std::ranges::find(kernels, name, &format::KernelReflection::name) == kernels.end()) {
      unit.result = {};
      unit.result.failure = fmt::format("what is left without the other kernels has no kernel "
                                        "'{}': compile without '--launched-only'",
                                        name);
      unit.binary = {};
      return;
    }
  }
}

// `present`: look up only the units that the cache seems to contain. A miss that is looked up is
// counted, and compared with the last build.
enum class LookUpOf : std::uint8_t { all, present };

// Fills the units of a job, and finds those that are distinct, whose results it gets.
class JobBuilder {
public:
  // `shared` is std::nullopt if the units need no keys of the remote cache.
  JobBuilder(Job& job, const CompilerFacts& facts, const std::optional<CompilerFacts>& shared,
             CompileCache& cache)
      : m_job(job), m_cache(cache), m_spill(job.spill) {
    const auto places = places_of(job);
    job.units = std::vector<JobUnit>(places.begin(), places.end());
    for (JobUnit& unit : job.units) {
      add(unit, facts, shared);
    }
  }

  void look_up(LookUpOf wanted) {
    for (DistinctUnit& unit : m_units) {
      if (m_cache.is_on() && (wanted == LookUpOf::all || m_cache.contains(unit.cached))) {
        CacheAnswer answer = m_cache.look_up(unit.cached);
        unit.cache_note = std::move(answer.note);
        keep(unit, std::move(answer.result));
      }
    }
  }

  // Looks up all misses in the remote cache before anything is built: several at once, which wait
  // for the network instead of a processor, and without starting compilers for units that are
  // there.
  void look_up_remotely() {
    const std::vector<DistinctUnit*> misses = find_misses();
    std::vector<const CacheUnit*> wanted;
    std::ranges::transform(misses, std::back_inserter(wanted),
                           [](const DistinctUnit* unit) { return &unit->cached; });
    m_job.remote->fetch(wanted, [&](std::size_t index, CacheAnswer answer) {
      misses[index]->remote_note = std::move(answer.note);
      if (answer.result) {
        m_cache.store(misses[index]->cached, *answer.result->reply);
      }
      keep(*misses[index], std::move(answer.result));
    });
  }

  // Builds the misses, and shows the progress.
  void build(const Options& options, Reporter& reporter) {
    const std::vector<DistinctUnit*> misses = find_misses();
    if (m_job.sources && !misses.empty()) {
      m_job.sources->start();
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto show = [&](std::size_t done, std::size_t index) {
      const Progress progress{done, misses.size(),
                              std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::steady_clock::now() - begin),
                              printable(unit_label(m_job, misses[index]->units.front()->place))};
      reporter.progress(progress_line_with_time(progress));
      if (done > 0) {
        reporter.verbose(progress_line(progress));
      }
    };
    if (!misses.empty()) {
      show(0, 0);
    }
    (void)build_units(plan_builds(options, misses),
                      [&](std::size_t done, std::size_t index, UnitResult& result) {
                        keep(*misses[index], std::move(result));
                        show(done, index);
                      });
    reporter.end_progress();
  }

  void hand_out_results() const {
    for (const DistinctUnit& distinct : m_units) {
      for (JobUnit* const unit : distinct.units) {
        static_cast<UnitOutcome&>(*unit) = static_cast<const UnitOutcome&>(distinct);
        require_launched_kernels(m_job, *unit);
      }
    }
  }

private:
  void add(JobUnit& unit, const CompilerFacts& facts, const std::optional<CompilerFacts>& shared) {
    const UnitPlace& place = unit.place;
    const BuildTarget& target = m_job.targets[place.target];
    PlannedUnit planned;
    planned.unit = {target.compiler_target, nullptr, unit_options(m_job, place)};
    planned.compiler = target.compiler;
    std::string subject = subject_of(m_job, place);
    CacheUnit cached{{}, {}, m_job.programs[place.program].name, {}, target.target};
    if (const JobUnit* const input = input_of(m_job, unit)) {
      planned.input = m_numbers.at(input->key);
      const CacheUnit& source = m_units[*planned.input].cached;
      cached.recipe = converted_recipe(std::move(subject), source.recipe, target.compiler_facts);
      cached.remote_key = converted_remote_key(source.remote_key, target);
    } else {
      planned.unit.source = unit_source(m_job, place);
      planned.unit.specializations = unit_specializations(m_job, place);
      cached.recipe =
          unit_recipe(std::move(subject), planned.unit, target, target.compiler_facts, facts);
      cached.remote_key = remote_key(planned.unit, target, shared);
    }
    cached.key = unit.key = clbin::cache::recipe_key(cached.recipe);
    cached.options = planned.unit.options.text();
    const auto [known, is_new] = m_numbers.emplace(unit.key, m_units.size());
    if (is_new) {
      m_units.push_back({{}, std::move(planned), std::move(cached), {}});
    }
    m_units[known->second].units.push_back(&unit);
  }

  // Moves a result, if there is one, to its unit, and its binary to the spill file.
  void keep(DistinctUnit& unit, std::optional<UnitResult> result) {
    if (result && is_built(*result)) {
      base::Bytes binary = std::exchange(result->reply->binary, {});
      auto kept = m_spill ? base::KeptBytes::spill(m_spill, binary) : base::KeptBytes();
      if (!kept) {
        m_spill.reset(); // the disk is full
      }
      unit.binary = m_spill ? *std::move(kept) : base::KeptBytes(std::move(binary));
    }
    if (result) {
      unit.result = *std::move(result);
    }
  }

  [[nodiscard]] std::vector<DistinctUnit*> find_misses() {
    std::vector<DistinctUnit*> misses;
    for (DistinctUnit& unit : m_units) {
      if (!is_built(unit.result)) {
        misses.push_back(&unit);
      }
    }
    return misses;
  }

  // Returns the place among the misses of the unit that another converts; std::nullopt if its
  // binary is there already.
  [[nodiscard]] std::optional<std::size_t> place_among(const std::vector<DistinctUnit*>& misses,
                                                       std::size_t unit) {
    const auto place = std::ranges::lower_bound(misses, &m_units[unit]);
    return place != misses.end() && *place == &m_units[unit]
               ? std::optional(static_cast<std::size_t>(place - misses.begin()))
               : std::nullopt;
  }

  // `misses` must outlive the plan.
  [[nodiscard]] BuildPlan plan_builds(const Options& options,
                                      const std::vector<DistinctUnit*>& misses) {
    BuildPlan plan;
    plan.compilers = m_job.compilers;
    plan.jobs = worker_count(options);
    for (const DistinctUnit* const unit : misses) {
      PlannedUnit& planned = plan.units.emplace_back(unit->planned);
      if (planned.input) {
        planned.input = place_among(misses, *planned.input);
      }
    }
    plan.complete = [this, &misses](std::size_t index, Unit& unit) {
      return add_input(*misses[index], unit);
    };
    if (m_cache.is_on() || m_job.remote) {
      plan.make = [this, &misses](std::size_t index, const std::function<UnitResult()>& build) {
        return build_for_caches(*misses[index], build);
      };
    }
    return plan;
  }

  // Called by the threads that build units.
  UnitResult build_for_caches(DistinctUnit& unit, const std::function<UnitResult()>& build) {
    const auto build_and_offer = [&] {
      UnitResult result = build();
      if (m_job.remote && is_built(result)) {
        m_job.remote->offer(unit.cached,
                            entry_of(unit.cached.target, unit.cached.options, *result.reply));
      }
      return result;
    };
    return m_cache.build(unit.cached, build_and_offer, unit.cache_note);
  }

  // Adds to `unit` the binary that it converts, if it converts one. Returns errors of reading it.
  Result<void> add_input(const DistinctUnit& distinct, Unit& unit) const {
    if (distinct.planned.input) {
      const DistinctUnit& input = m_units[*distinct.planned.input];
      CLBIN_TRY_ASSIGN(const base::ByteRegion binary, input.binary.read());
      unit.binary = std::make_shared<const base::Bytes>(binary.view().begin(), binary.view().end());
      unit.kernels = input.result.reply->kernels;
    }
    return {};
  }

  Job& m_job;
  CompileCache& m_cache;
  std::shared_ptr<base::SpillFile> m_spill;      // null: binaries are kept in memory
  std::map<base::Digest, std::size_t> m_numbers; // of the distinct units, by their keys
  std::vector<DistinctUnit> m_units;
};

// A compile must not wait for the other end of a pipe.
Result<void> require_no_pipe(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status)
             ? Result<void>()
             : fail(ErrorCode::file_read, "'{}' is not a regular file", path.string());
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

std::string lacking_extensions(const Job& job, const UnitPlace& place) {
  const auto& device = job.targets[place.target].device;
  if (!device || device->extensions.empty()) { // those of a described machine are not known
    return {};
  }
  auto own = base::requested_extensions(unit_options(job, place).text());
  own.insert(own.end(), device->extensions.begin(), device->extensions.end());
  const auto& required = job.variants[place.variant].required;
  return fmt::format("{}", fmt::join(clbin::loader::lacking_extensions(required, own), ", "));
}

std::vector<UnitPlace> places_of(const Job& job) {
  std::vector<UnitPlace> places;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    for (const std::size_t v : variants_of(job, p)) {
      for (std::size_t t = 0; t < job.targets.size(); ++t) {
        places.push_back({p, v, t});
      }
    }
  }
  std::erase_if(places,
                [&](const UnitPlace& place) { return !lacking_extensions(job, place).empty(); });
  return places;
}

const std::shared_ptr<const format::SourcePackage>& unit_source(const Job& job,
                                                                const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  return program.recorded.empty() ? program.source : program.recorded.at(place.variant).source;
}

const BuildOptions& unit_options(const Job& job, const UnitPlace& place) {
  const VariantOptions& variant = job.variants[place.variant];
  return variant.target_options.empty() ? variant.options : variant.target_options[place.target];
}

std::string unit_label(const Job& job, const UnitPlace& place) {
  const BuildTarget& target = job.targets[place.target];
  const std::string form = target.form.empty() ? "" : " · " + target.form;
  const std::string variant = variants_of(job, place.program).size() == 1
                                  ? ""
                                  : fmt::format(" · {}", job.variants[place.variant].name);
  return fmt::format("{}{} · {}{}", target.label, form, job.programs[place.program].path, variant);
}

void build_job(Job& job, const Options& options, const CompilerFacts& facts,
               const std::filesystem::path& executable, CompileCache& cache, Reporter& reporter) {
  JobBuilder builder(job, facts,
                     job.remote ? shared_facts(facts, executable, *job.contents) : std::nullopt,
                     cache);
  builder.look_up(LookUpOf::all);
  if (job.remote) {
    builder.look_up_remotely();
  }
  builder.build(options, reporter);
  job.compilers.clear(); // ends workers that are no longer needed
  builder.hand_out_results();
}

void look_up_job(Job& job, const CompilerFacts& facts, CompileCache& cache) {
  JobBuilder builder(job, facts, std::nullopt, cache);
  builder.look_up(LookUpOf::present);
  builder.hand_out_results();
}

Result<remote::RemoteTrust> read_remote_trust(const remote::RemoteSettings& settings) {
  remote::RemoteTrust found;
  for (const std::string& key : settings.public_keys) {
    CLBIN_TRY(require_no_pipe(key)); // or a text, which names no file
  }
  if (!settings.public_keys.empty()) {
    CLBIN_TRY_ASSIGN(const auto keys, trust::read_public_keys(settings.public_keys));
    found.required = trust::signature_policy(keys);
  }
  if (settings.sign_key) {
    CLBIN_TRY(require_no_pipe(*settings.sign_key));
    CLBIN_TRY_ASSIGN(auto key, trust::read_secret_key(*settings.sign_key, nullptr));
    found.signer = std::make_shared<const base::SecretKey>(std::move(key.key));
  }
  return found;
}

} // namespace oclcc
