#include "plan/unit_plan.hpp"

#include "command_line/options.hpp"
#include "plan/unit_key.hpp"
#include "targets/device_pattern.hpp"
#include "targets/machine_feature.hpp"
#include "terminal/shell_quoting.hpp"

#include <algorithm>
#include <set>

namespace oclcc::plan {

using clbin::base::Digest;
using clbin::base::Hasher;
using clbin::base::Result;

namespace {

constexpr std::size_t k_id_letters = 16;
// A pattern of --device-option that matches no device.
constexpr std::string_view k_no_device = "oclcc_no_device";

std::string feature_of(const BuildTarget& target) {
  return target.device ? device_feature(target.target.identity)
                       : tools_feature(target.target.spec, target.compiler_facts);
}

// How to build, but not what.
void add_running_words(const Options& options, Words& words) {
  for (const auto& [name, path] : options.tools) {
    words.insert(words.end(), {"--tool", fmt::format("{}={}", name, path.string())});
  }
  if (options.timeout_seconds != Options().timeout_seconds) {
    words.insert(words.end(), {"--timeout", std::to_string(options.timeout_seconds)});
  }
  if (options.memory_limit_bytes) {
    words.insert(words.end(),
                 {"--memory-limit", *options.memory_limit_bytes == 0
                                        ? "none"
                                        : std::to_string(*options.memory_limit_bytes)});
  }
  if (options.cache == CachePolicy::ignore) {
    words.emplace_back("--no-cache");
  }
}

// Contains all variants, and --device-option for other devices, too: their macros decide which
// lines oclcc inserts before a program, whose source must be the same in every unit.
Words words_for_target(const BuildTarget& target, const Options& options) {
  Words words = target.device ? Words{"--device", device_feature(target.target.identity)}
                              : Words{"--target", target.target.spec};
  add_source_words(options, words);
  for (const DeviceOptions& added : options.device_options) {
    const bool matches = target.device && matches_pattern(*target.device, added.pattern);
    const std::string pattern =
        matches ? device_feature(target.target.identity) : std::string(k_no_device);
    words.insert(words.end(),
                 {"--device-option", fmt::format("{}={}", pattern, join_options(added.options))});
  }
  for (const Variant& variant : options.variants) {
    words.insert(words.end(),
                 {"--variant", fmt::format("{}={}", variant.name, join_options(variant.options))});
  }
  add_running_words(options, words);
  return words;
}

Words input_words(const Program& program) {
  if (std::filesystem::path(program.path).stem().string() == program.name) {
    return {"--", program.path};
  }
  return option_words("--program", fmt::format("{}={}", program.name, program.path));
}

// Builds the units, target by target, so that those with one feature are consecutive.
class UnitLister {
public:
  UnitLister(const Job& job, const Options& options, const CompilerFacts& facts, std::string folder)
      : m_job(job), m_options(options), m_keys(job, options, facts), m_folder(std::move(folder)) {}

  // The units that are built from the source target `target`.
  void list(std::size_t target, const std::vector<bool>& is_cached, std::vector<PlanUnit>& units) {
    const std::string feature = feature_of(m_job.targets[target]);
    const Words words = words_for_target(m_job.targets[target], m_options);
    for (std::size_t program = 0; program < m_job.programs.size(); ++program) {
      for (std::size_t variant = 0; variant < m_job.variants.size(); ++variant) {
        const UnitPlace place{program, variant, target};
        if (!is_cached[index_of(place)]) {
          units.push_back(unit_at(place, feature, words));
        }
      }
    }
  }

private:
  [[nodiscard]] std::size_t index_of(const UnitPlace& place) const {
    return (place.program * m_job.variants.size() + place.variant) * m_job.targets.size() +
           place.target;
  }

  [[nodiscard]] PlanUnit unit_at(const UnitPlace& place, const std::string& feature,
                                 const Words& words) const {
    const Program& program = m_job.programs[place.program];
    PlanUnit unit;
    unit.key = clbin::base::to_hex(m_keys.key_of(place));
    unit.program = program.name;
    unit.variant = m_job.variants[place.variant].name;
    unit.target = m_job.targets[place.target].label;
    unit.feature = feature;
    for (const auto& file : program.files) {
      unit.inputs.push_back(file.string());
    }
    unit.options = words;
    if (program.need == ProgramNeed::optional) {
      unit.options.insert(unit.options.end(), {"--optional", program.name});
    }
    unit.options.insert(unit.options.end(), {"--unit", unit.key});
    unit.input = input_words(program);
    unit.output = fmt::format("{}/units/{}.clbin", m_folder, unit.key);
    return unit;
  }

  const Job& m_job;
  const Options& m_options;
  UnitKeys m_keys;
  std::string m_folder;
};

// Whether the cache contains each place, and what is converted from it. Removes the results of
// those whose conversion is missing.
std::vector<bool> find_cached(Job& job) {
  std::vector<bool> is_cached(job.places.size());
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    is_cached[place] = is_built(job.results[place]);
  }
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    if (const auto input = input_place(job, place)) {
      is_cached[*input] = is_cached[*input] && is_cached[place];
    }
  }
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    const auto input = input_place(job, place);
    if (!is_cached[input.value_or(place)]) {
      job.results[place] = {};
    }
  }
  return is_cached;
}

std::size_t count_sources(const Job& job, const std::vector<bool>& is_cached) {
  std::size_t count = 0;
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    count += is_cached[place] && !input_place(job, place) ? 1 : 0;
  }
  return count;
}

std::vector<std::string> inputs_of(const Job& job) {
  std::set<std::string> files;
  for (const Program& program : job.programs) {
    for (const auto& file : program.files) {
      files.insert(file.string());
    }
  }
  for (const IlProgram& module : job.modules) {
    files.insert(module.path);
  }
  return {files.begin(), files.end()};
}

// Of the names of all bundles that are merged. The bundle of cached units is named by the keys that
// the cache has for them.
Result<std::string> id_of(const Plan& plan, const Job& job, const std::vector<bool>& is_cached) {
  Hasher hasher;
  hasher.add_field(plan.bundle);
  for (const PlanUnit& unit : plan.units) {
    hasher.add_field(unit.key);
  }
  for (std::size_t place = 0; place < job.places.size(); ++place) {
    if (is_cached[place]) {
      hasher.add(job.keys[place].bytes);
    }
  }
  for (const IlProgram& module : job.modules) {
    CLBIN_TRY_ASSIGN(const Digest contents, bundle_key({{{}, {module.program}}, {}}, {}, {}));
    hasher.add(contents.bytes);
  }
  return clbin::base::to_hex(hasher.finish()).substr(0, k_id_letters);
}

void add_steps(Plan& plan) {
  const std::string merged = fmt::format("{}/merged-{}.clbin", plan.folder, plan.id);
  plan.merge_list = fmt::format("{}/merge-{}.rsp", plan.folder, plan.id);
  plan.steps.push_back({{"--merge", "@" + plan.merge_list, "-o", merged}, merged});
  plan.steps.push_back({{"--repack", merged, "-o", plan.bundle}, plan.bundle});
}

} // namespace

Words command_of(const PlanUnit& unit) {
  Words words = unit.options;
  words.insert(words.end(), {"-o", unit.output});
  words.insert(words.end(), unit.input.begin(), unit.input.end());
  return words;
}

Result<Plan> make_plan(Job& job, const Options& options, const std::filesystem::path& bundle,
                       const CompilerFacts& facts, CompileCache& cache) {
  Plan plan;
  plan.bundle = file_word(bundle);
  plan.folder = std::filesystem::path(plan.bundle).replace_extension(".plan").string();
  plan.inputs = inputs_of(job);
  look_up_job(job, facts, cache);
  const std::vector<bool> is_cached = find_cached(job);
  plan.cached = count_sources(job, is_cached);
  UnitLister lister(job, options, facts, plan.folder);
  for (std::size_t target = 0; target < job.targets.size(); ++target) {
    if (!job.targets[target].input) {
      lister.list(target, is_cached, plan.units);
    }
  }
  std::stable_sort(
      plan.units.begin(), plan.units.end(),
      [](const PlanUnit& one, const PlanUnit& other) { return one.feature < other.feature; });
  CLBIN_TRY_ASSIGN(plan.id, id_of(plan, job, is_cached));
  if (plan.cached != 0 || !job.modules.empty()) {
    plan.ready = fmt::format("{}/ready-{}.clbin", plan.folder, plan.id);
  }
  add_steps(plan);
  return plan;
}

} // namespace oclcc::plan
