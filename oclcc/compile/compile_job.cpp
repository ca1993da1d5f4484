#include "compile/compile_job.hpp"

#include "cache/unit_recipe.hpp"
#include "terminal/progress_text.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace oclcc {

using worker::DeviceDescription;
using worker::UnitResult;

namespace {

void plan_units(Job& job) {
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    for (std::size_t v = 0; v < job.variants.size(); ++v) {
      for (std::size_t d = 0; d < job.devices.size(); ++d) {
        job.places.push_back({p, v, d});
      }
    }
  }
}

// Identical units once: PoCL answers a second build of one in the same process from its cache,
// without the warnings.
struct DistinctUnits {
  std::vector<worker::Unit> units;
  std::vector<CacheUnit> cached;         // as units
  std::vector<std::size_t> first_places; // indexed like units: the first place of each
  std::vector<std::size_t> of_places;    // as Job::places: the place's unit
};

// The comparison for a miss: the last build of this file, in this variant, for this device, with
// any driver version.
std::string subject_of(const Job& job, const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  std::error_code error; // the working directory was removed
  const auto path = std::filesystem::absolute(program.path, error).lexically_normal();
  const auto& identity = job.devices[place.device].identity;
  return fmt::format("{} / {} / {} / {} / {}", error ? program.path : path.string(), program.name,
                     job.variants[place.variant].name, identity.platform_name,
                     identity.device_name);
}

DistinctUnits find_distinct_units(const Job& job, const worker::WorkerSettings& settings) {
  const CompilerFacts facts = compiler_facts(settings);
  std::vector<std::string> stamps;
  for (const DeviceDescription& device : job.devices) {
    stamps.push_back(file_stamp(device.driver_library));
  }
  DistinctUnits distinct;
  std::map<clbin::base::Digest, std::size_t> known;
  for (std::size_t i = 0; i < job.places.size(); ++i) {
    const UnitPlace& place = job.places[i];
    const DeviceDescription& device = job.devices[place.device];
    const Program& program = job.programs[place.program];
    worker::Unit unit{place.device, program.source, unit_options(job, place), job.specializations};
    auto recipe = unit_recipe(subject_of(job, place), unit, device, stamps[place.device], facts);
    const auto key = clbin::cache::recipe_key(recipe);
    const auto [found, is_new] = known.emplace(key, distinct.units.size());
    distinct.of_places.push_back(found->second);
    if (is_new) {
      clbin::format::Target target;
      target.identity = device.identity;
      distinct.cached.push_back(
          {std::move(recipe), key, program.name, unit.options, std::move(target)});
      distinct.units.push_back(std::move(unit));
      distinct.first_places.push_back(i);
    }
  }
  return distinct;
}

// Of the units of a run, by their numbers, as soon as each is there.
class BinaryStore {
public:
  BinaryStore(std::size_t units, std::shared_ptr<clbin::base::SpillFile> file)
      : m_file(std::move(file)), m_binaries(units) {}

  // Takes the binary out of `result`.
  void take(std::size_t unit, UnitResult& result) {
    if (!worker::is_built(result)) {
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

// The results of the units in the cache, and a note for each unit.
struct CacheAnswers {
  std::vector<UnitResult> results; // as DistinctUnits::units; empty where there is none
  std::vector<std::string> notes;  // as results
  std::vector<std::size_t> misses; // units
};

CacheAnswers look_up(const DistinctUnits& distinct, CompileCache& cache, BinaryStore& binaries) {
  CacheAnswers answers;
  answers.results.resize(distinct.units.size());
  answers.notes.resize(distinct.units.size());
  for (std::size_t unit = 0; unit < distinct.units.size(); ++unit) {
    CacheAnswer answer;
    if (cache.is_on()) {
      answer = cache.look_up(distinct.cached[unit]);
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

worker::BuildPlan plan_build(const Job& job, const Options& options,
                             const worker::WorkerSettings& settings) {
  worker::BuildPlan plan;
  plan.settings = settings;
  plan.devices = job.devices;
  plan.jobs = worker_count(options);
  plan.timeout = std::chrono::seconds(options.timeout_seconds);
  return plan;
}

// Those of `plan`, which are those of `misses`, with the progress told.
std::vector<UnitResult> build_misses(const Job& job, const DistinctUnits& distinct,
                                     const std::vector<std::size_t>& misses,
                                     const worker::BuildPlan& plan,
                                     std::vector<worker::EnumeratedWorker> enumerated,
                                     BinaryStore& binaries, Reporter& reporter) {
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
    show(done, index);
  };
  std::vector<UnitResult> results = worker::build_units(plan, std::move(enumerated), finish);
  reporter.end_progress();
  return results;
}

} // namespace

const std::string& unit_options(const Job& job, const UnitPlace& place) {
  const VariantOptions& variant = job.variants[place.variant];
  return variant.device_options.empty() ? variant.options : variant.device_options[place.device];
}

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

bool is_absent_variant(const Job& job, std::size_t unit) {
  const UnitResult& result = job.results[unit];
  const bool refused = result.reply && result.reply->error.empty() && result.reply->cl_code != 0;
  const UnitPlace& place = job.places[unit];
  if (!refused || job.absent_variants == AbsentVariants::refuse ||
      job.programs[place.program].need == ProgramNeed::optional) {
    return false;
  }
  bool device_builds_program = false;
  bool variant_is_built = false;
  for (std::size_t other = 0; other < job.places.size(); ++other) {
    const UnitPlace& there = job.places[other];
    if (there.program == place.program && worker::is_built(job.results[other])) {
      device_builds_program |= there.device == place.device;
      variant_is_built |= there.variant == place.variant;
    }
  }
  return device_builds_program && variant_is_built;
}

bool is_left_to_source(const Job& job, std::size_t unit) {
  return !worker::is_built(job.results[unit]) &&
         job.programs[job.places[unit].program].need == ProgramNeed::optional;
}

void build_job(Job& job, const Options& options, const worker::WorkerSettings& settings,
               std::vector<worker::EnumeratedWorker> enumerated, CompileCache& cache,
               Reporter& reporter) {
  plan_units(job);
  const DistinctUnits distinct = find_distinct_units(job, settings);
  BinaryStore binaries(distinct.units.size(), job.spill);
  CacheAnswers answers = look_up(distinct, cache, binaries);
  const auto& misses = answers.misses;
  worker::BuildPlan plan = plan_build(job, options, settings);
  for (const std::size_t unit : misses) {
    plan.units.push_back(distinct.units[unit]);
  }
  if (cache.is_on()) {
    plan.make = [&](std::size_t index, const std::function<UnitResult()>& build) {
      const std::size_t unit = misses[index];
      return cache.build(distinct.cached[unit], build, answers.notes[unit]);
    };
  }
  std::vector<UnitResult> built =
      build_misses(job, distinct, misses, plan, std::move(enumerated), binaries, reporter);
  for (std::size_t index = 0; index < misses.size(); ++index) {
    answers.results[misses[index]] = std::move(built[index]);
  }
  for (const std::size_t unit : distinct.of_places) {
    job.results.push_back(answers.results[unit]);
    job.binaries.push_back(binaries.at(unit));
    job.cache_notes.push_back(answers.notes[unit]);
  }
}

} // namespace oclcc
