#include "compile/unit_plan.hpp"

#include "closure/include_closure.hpp"
#include "listing/launch_compilation.hpp"
#include "targets/machine_description.hpp"
#include "targets/patterns.hpp"
#include "terminal/shell_quoting.hpp"

namespace oclcc::plan {

using base::Digest;
using base::Hasher;

namespace {

constexpr std::string_view k_key_label = "oclcc-plan-unit-1";

void add_file(Hasher& hasher, const format::SourceFile& file) {
  hasher.add_field(file.include_name);
  hasher.add_field(file.text);
}

Digest digest_of(const Program& program) {
  Hasher hasher;
  hasher.add_field(program.name);
  hasher.add_u64(static_cast<std::uint64_t>(program.need));
  const format::SourcePackage& source = *program.source;
  add_file(hasher, source.main);
  hasher.add_field(clbin::closure::without_paths(source).main.display_name);
  hasher.add_u64(source.headers.size());
  for (const format::SourceFile& header : source.headers) {
    add_file(hasher, header);
  }
  return hasher.finish();
}

// `form`: whether a cubin is made of the binary, too.
Digest digest_of(const BuildTarget& target, bool has_form, const CompilerFacts& facts) {
  Hasher hasher;
  hasher.add(format::target_digest(target.target).bytes);
  hasher.add_u64(has_form ? 1 : 0);
  if (!target.device) {
    hasher.add_u64(target.compiler_facts.size());
    for (const clbin::cache::Ingredient& fact : target.compiler_facts) {
      hasher.add_field(fact.name);
      hasher.add_field(fact.value);
    }
  }
  const auto family = format::target_family(target.target);
  for (const Variable& variable : target.device ? driver_variables(facts.environment, family)
                                                : tool_variables(facts.environment, family)) {
    // Another machine can have its libraries in other directories.
    if (!chooses_libraries(variable)) {
      hasher.add_field(variable.name);
      hasher.add_field(variable.value);
    }
  }
  return hasher.finish();
}

Digest digest_of_common(const Job& job, const Options& options, const CompilerFacts& facts) {
  Hasher hasher;
  hasher.add_field(k_key_label);
  hasher.add_field(facts.version);
  hasher.add_u64(static_cast<std::uint64_t>(options.source));
  hasher.add_u64(job.specializations.size());
  for (const Specialization& specialization : job.specializations) {
    hasher.add_field(specialization.kernel);
    hasher.add_field(clbin::listing::to_string(specialization.size));
  }
  return hasher.finish();
}

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
  unit.input = input_words(program);
  unit.output = fmt::format("{}/units/{}.clbin", folder, unit.key);
  return unit;
}

// The units that are not in the cache, without those that convert the binaries of others. Those
// with one feature are consecutive.
std::vector<PlanUnit> units_to_build(const Job& job, const Options& options,
                                     const CompilerFacts& facts, const std::string& folder) {
  const UnitKeys keys(job, options, facts);
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
      PlanUnit& unit = units.emplace_back(
          unit_at(job, built.place, base::to_hex(keys.key_of(built.place)), folder));
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

void add_steps(Plan& plan) {
  const std::string merged = fmt::format("{}/merged-{}.clbin", plan.folder, plan.id);
  plan.merge_list = fmt::format("{}/merge-{}.rsp", plan.folder, plan.id);
  plan.steps.push_back({{"--merge", "@" + plan.merge_list, "-o", merged}, merged});
  plan.steps.push_back({{"--repack", merged, "-o", plan.bundle}, plan.bundle});
}

} // namespace

UnitKeys::UnitKeys(const Job& job, const Options& options, const CompilerFacts& facts)
    : m_job(job), m_options(digest_of_common(job, options, facts)) {
  for (const Program& program : job.programs) {
    m_programs.push_back(digest_of(program));
  }
  for (std::size_t target = 0; target < job.targets.size(); ++target) {
    const bool has_form =
        std::ranges::find(job.targets, std::optional(target), &BuildTarget::input) !=
        job.targets.end(); // its binaries are converted
    m_targets.push_back(digest_of(job.targets[target], has_form, facts));
  }
}

Digest UnitKeys::key_of(const UnitPlace& place) const {
  const VariantOptions& variant = m_job.variants[place.variant];
  Hasher hasher;
  hasher.add(m_options.bytes);
  hasher.add(m_programs[place.program].bytes);
  hasher.add(m_targets[place.target].bytes);
  hasher.add_field(variant.name);
  hasher.add_field(variant.options.text());
  hasher.add_field(unit_options(m_job, place).text());
  return hasher.finish();
}

Result<void> keep_unit(Job& job, const Options& options, const CompilerFacts& facts,
                       const Digest& key) {
  const auto sources = std::count_if(job.targets.begin(), job.targets.end(),
                                     [](const BuildTarget& target) { return !target.input; });
  if (job.programs.size() != 1 || !job.modules.empty() || sources != 1) {
    return fail(ErrorCode::invalid_argument,
                "'--unit' requires one program and one device or target, not {} and {}",
                job.programs.size() + job.modules.size(), sources);
  }
  const UnitKeys keys(job, options, facts);
  for (std::size_t variant = 0; variant < job.variants.size(); ++variant) {
    if (keys.key_of({0, variant, 0}) == key) {
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
  add_steps(plan);
  return plan;
}

} // namespace oclcc::plan
