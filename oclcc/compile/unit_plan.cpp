#include "compile/unit_plan.hpp"

#include "targets/machine_description.hpp"
#include "targets/patterns.hpp"
#include "terminal/shell_quoting.hpp"

namespace oclcc::plan {

using base::Digest;
using base::Hasher;

namespace {

constexpr std::size_t k_id_letters = 16;
// A pattern of --device-option that matches no device.
constexpr std::string_view k_no_device = "oclcc_no_device";

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
    const Words own = variant_words(options, variant);
    words.insert(words.end(), own.begin(), own.end());
  }
  add_running_words(options, words);
  return words;
}

PlanUnit unit_at(const Job& job, const UnitPlace& place, std::string key,
                 const std::string& folder) {
  const Program& program = job.programs[place.program];
  const BuildTarget& target = job.targets[place.target];
  PlanUnit unit;
  unit.key = std::move(key);
  unit.program = program.name;
  unit.variant = job.variants[place.variant].name;
  unit.target = target.label;
  unit.feature = target.device ? device_feature(target.target.identity)
                               : tools_feature(target.target.spec, target.compiler_facts);
  for (const auto& file : program.files) {
    unit.inputs.push_back(file.string());
  }
  unit.input = std::filesystem::path(program.path).stem().string() == program.name
                   ? Words{"--", program.path}
                   : option_words("--program", fmt::format("{}={}", program.name, program.path));
  unit.output = fmt::format("{}/units/{}.clbin", folder, unit.key);
  return unit;
}

// The units that are not in the cache, without those that convert the binaries of others. Those
// with one feature are consecutive.
std::vector<PlanUnit> units_to_build(const Job& job, const Options& options,
                                     const CompilerFacts& facts, const std::string& folder) {
  std::vector<PlanUnit> units;
  for (std::size_t target = 0; target < job.targets.size(); ++target) {
    if (job.targets[target].input) {
      continue;
    }
    const Words words = words_for_target(job.targets[target], options);
    for (const JobUnit& built : job.units) {
      if (built.place.target != target || is_built(built.result)) {
        continue;
      }
      PlanUnit& unit = units.emplace_back(unit_at(
          job, built.place, base::to_hex(unit_key(job, options, facts, built.place)), folder));
      unit.options = words;
      if (job.programs[built.place.program].need == ProgramNeed::optional) {
        unit.options.insert(unit.options.end(), {"--optional", unit.program});
      }
      unit.options.insert(unit.options.end(), {"--unit", unit.key});
    }
  }
  std::ranges::stable_sort(units, {}, &PlanUnit::feature);
  return units;
}

// Removes the results of units whose conversion is missing, and of conversions of missing units.
void remove_incomplete(Job& job) {
  for (JobUnit& unit : job.units) {
    JobUnit* const input = input_of(job, unit);
    if (input != nullptr && (!is_built(unit.result) || !is_built(input->result))) {
      input->result = {};
      unit.result = {};
    }
  }
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
Result<std::string> id_of(const Plan& plan, const Job& job) {
  Hasher hasher;
  hasher.add_field(plan.bundle);
  for (const PlanUnit& unit : plan.units) {
    hasher.add_field(unit.key);
  }
  for (const JobUnit& unit : job.units) {
    if (is_built(unit.result)) {
      hasher.add(unit.key.bytes);
    }
  }
  for (const IlProgram& module : job.modules) {
    CLBIN_TRY_ASSIGN(const Digest contents, bundle_key({{{}, {module.program}}, {}}, {}, {}));
    hasher.add(contents.bytes);
  }
  return base::to_hex(hasher.finish()).substr(0, k_id_letters);
}

} // namespace

Digest unit_key(const Job& job, const Options& options, const CompilerFacts& facts,
                const UnitPlace& place) {
  const Program& program = job.programs[place.program];
  const VariantOptions& variant = job.variants[place.variant];
  const BuildTarget& target = job.targets[place.target];
  const bool is_converted = std::ranges::find(job.targets, std::optional(place.target),
                                              &BuildTarget::input) != job.targets.end();
  const Unit unit{0, program.source, unit_options(job, place), job.specializations};
  // Without what another machine with the same devices and tools can have in another directory.
  CompilerFacts portable = facts;
  portable.executable.clear();
  std::erase_if(portable.environment, chooses_libraries);
  Recipe recipe = unit_recipe({}, unit, target,
                              target.device ? Ingredients() : target.compiler_facts, portable);
  const Ingredients of_bundle = {
      {"program", program.name},
      {"file", std::filesystem::path(program.source->main.display_name).filename().string()},
      {"optional", program.need == ProgramNeed::optional ? "yes" : "no"},
      {"variant", variant.name},
      {"options of the variant", variant.options.text()},
      {"source in the bundle", options.source == SourcePolicy::keep ? "yes" : "no"},
      {"is converted", is_converted ? "yes" : "no"}};
  recipe.ingredients.insert(recipe.ingredients.end(), of_bundle.begin(), of_bundle.end());
  return clbin::cache::recipe_key(recipe);
}

Result<void> keep_unit(Job& job, const Options& options, const CompilerFacts& facts,
                       const Digest& key) {
  const auto sources =
      std::ranges::count_if(job.targets, [](const BuildTarget& target) { return !target.input; });
  if (job.programs.size() != 1 || !job.modules.empty() || sources != 1) {
    return fail(ErrorCode::invalid_argument,
                "'--unit' requires one program and one device or target, not {} and {}",
                job.programs.size() + job.modules.size(), sources);
  }
  for (std::size_t variant = 0; variant < job.variants.size(); ++variant) {
    if (unit_key(job, options, facts, {0, variant, 0}) == key) {
      job.variants = {std::move(job.variants[variant])};
      return {};
    }
  }
  return fail(ErrorCode::invalid_argument,
              "'{}' is no longer the unit {}: a source, an option, the compiler, a variable that "
              "it reads, or oclcc has changed since the plan was made; make the plan again",
              job.programs.front().path, base::to_hex(key));
}

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
  remove_incomplete(job);
  plan.cached = static_cast<std::size_t>(std::ranges::count_if(job.units, [&](const auto& unit) {
    return is_built(unit.result) && !job.targets[unit.place.target].input;
  }));
  plan.units = units_to_build(job, options, facts, plan.folder);
  CLBIN_TRY_ASSIGN(plan.id, id_of(plan, job));
  if (plan.cached != 0 || !job.modules.empty()) {
    plan.ready = fmt::format("{}/ready-{}.clbin", plan.folder, plan.id);
  }
  const std::string merged = fmt::format("{}/merged-{}.clbin", plan.folder, plan.id);
  plan.merge_list = fmt::format("{}/merge-{}.rsp", plan.folder, plan.id);
  plan.steps.push_back({{"--merge", "@" + plan.merge_list, "-o", merged}, merged});
  plan.steps.push_back({{"--repack", merged, "-o", plan.bundle}, plan.bundle});
  return plan;
}

} // namespace oclcc::plan
