#include "cache/recipes.hpp"

#include "base/text.hpp"
#include "base/zstd_codec.hpp"
#include "worker/driver_rules.hpp"

#include <CL/cl.h>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace oclcc {

using base::Digest;
using clbin::cache::IngredientChange;
using clbin::cache::Recipe;
using clbin::cache::ShowValue;
using format::DeviceFamily;

namespace {

struct Prefix {
  DeviceFamily family;
  std::string_view start;
};

constexpr Prefix k_prefixes[] = {
    {DeviceFamily::pocl, "POCL_"},      {DeviceFamily::oclgrind, "OCLGRIND_"},
    {DeviceFamily::nvidia, "CUDA_"},    {DeviceFamily::amd, "AMD_"},
    {DeviceFamily::amd, "GPU_"},        {DeviceFamily::amd, "HSA_"},
    {DeviceFamily::amd, "ROC"},         {DeviceFamily::intel, "IGC_"},
    {DeviceFamily::intel, "NEO"},       {DeviceFamily::intel, "CL_CONFIG_"},
    {DeviceFamily::rusticl, "MESA_"},   {DeviceFamily::rusticl, "RUSTICL_"},
    {DeviceFamily::rusticl, "LP_"},     {DeviceFamily::rusticl, "GALLIUM_"},
    {DeviceFamily::rusticl, "GALLIVM"}, {DeviceFamily::rusticl, "CLC_"},
    {DeviceFamily::rusticl, "NIR_"},    {DeviceFamily::rusticl, "AMD_"},
    {DeviceFamily::rusticl, "RADV_"},   {DeviceFamily::clvk, "CLVK_"},
    {DeviceFamily::clvk, "CLSPV_"},
};

// Libraries between oclcc and every driver.
constexpr std::string_view k_for_all[] = {"OPENCL_LAYERS", "LD_PRELOAD", "LD_AUDIT",
                                          "LD_LIBRARY_PATH"};

// Those that load code whatever the compiler. Keys contain their values, but not that code.
constexpr std::string_view k_unshared[] = {"OPENCL_LAYERS", "LD_PRELOAD", "LD_AUDIT"};

// Of clang, lld and llvm-spirv, which pass these names to getenv when they build for an offline
// target. Each is a whole name, or a prefix if it ends in '_'. CPATH and C_INCLUDE_PATH have no
// effect on OpenCL C.
constexpr std::string_view k_of_tools[] = {
    "CCC_",         "CC_",        "CLANG_",     "LLVM_",         "LLD_",
    "FORCE_CLANG_", "FORCE_LLD_", "AS_SECURE_", "COMPILER_PATH",
};

// Each is a whole name, or a prefix if it ends in '_'.
constexpr std::string_view k_harmless[] = {
    "POCL_CACHE_DIR",
    "POCL_KERNEL_CACHE",
    "POCL_DEBUG",
    "POCL_DEVICES",
    "CUDA_CACHE_",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "GPU_DEVICE_ORDINAL",
    "ROCR_VISIBLE_DEVICES",
    "RUSTICL_ENABLE",
    "MESA_SHADER_CACHE_",
    // Directories and versions of the toolkit, which the driver does not read.
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDA_VERSION",
};

bool fits(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('_') ? name.starts_with(pattern) : name == pattern;
}

bool is_harmless(std::string_view name) {
  return std::any_of(std::begin(k_harmless), std::end(k_harmless),
                     [name](std::string_view pattern) { return fits(name, pattern); });
}

bool is_read_by_tools(std::string_view name) {
  return std::any_of(std::begin(k_of_tools), std::end(k_of_tools),
                     [name](std::string_view pattern) { return fits(name, pattern); });
}

bool is_read_by(std::string_view name, DeviceFamily family) {
  return std::any_of(std::begin(k_prefixes), std::end(k_prefixes), [&](const Prefix& prefix) {
    return prefix.family == family && name.starts_with(prefix.start);
  });
}

bool is_for_all(std::string_view name) {
  return std::ranges::find(k_for_all, name) != std::end(k_for_all);
}

bool is_for_driver(std::string_view name, DeviceFamily family) {
  return is_for_all(name) || (is_read_by(name, family) && !is_harmless(name));
}

// What the compilers of an offline target are, and what they read besides their input.
void add_tools(Recipe& recipe, const std::string& spec,
               const std::vector<clbin::cache::Ingredient>& tools, const CompilerFacts& facts) {
  recipe.ingredients.insert(recipe.ingredients.end(), tools.begin(), tools.end());
  format::Target target;
  target.origin = format::TargetOrigin::offline;
  target.spec = spec;
  for (const auto& [name, value] :
       tool_variables(facts.environment, format::target_family(target))) {
    recipe.ingredients.push_back({"environment variable " + name, value});
  }
  recipe.ingredients.push_back({"oclcc version", facts.version});
  recipe.ingredients.push_back({"oclcc executable", facts.executable, ShowValue::no});
}

// A new label leaves all older entries behind, so that no client reads what another means.
constexpr std::string_view k_remote_key_label = "oclcc-remote-unit-1";
constexpr std::uint64_t k_max_cpuinfo_bytes = 16U << 20U;

Digest key_of_recipe(const Recipe& recipe) {
  base::Hasher hasher;
  hasher.add_field(k_remote_key_label);
  hasher.add(clbin::cache::recipe_key(recipe).bytes);
  return hasher.finish();
}

bool is_features(std::string_view name) {
  return name == "flags" || name == "Features"; // of x86 and of Arm
}

bool is_model(std::string_view name) {
  constexpr std::string_view k_names[] = {"vendor_id",       "cpu family",       "model",
                                          "CPU implementer", "CPU architecture", "CPU variant",
                                          "CPU part"};
  return std::ranges::find(k_names, name) != std::end(k_names);
}

std::string sorted_words(std::string_view text) {
  const auto words = base::words_between_spaces(text);
  return fmt::format("{}", fmt::join(std::set(words.begin(), words.end()), " "));
}

constexpr std::string_view k_bundle_key_label = "oclcc-bundle-key-2";

class BundleHasher : public format::RecordHasher<BundleHasher> {
public:
  // `unit_keys` must outlive this object.
  explicit BundleHasher(std::span<const Digest> unit_keys) : m_unit_keys(unit_keys) {}

  using RecordWriter::write;

  // identity_digest covers every member of an identity.
  void write(const format::Target& target) {
    const auto& [origin, identity, spec] = target;
    write(origin);
    put(format::identity_digest(identity).bytes);
    write(spec);
  }

  void write(const format::EntryInput& entry) {
    const auto& [variant, target, options, payload, kernels, build_log, tools, spec_constants] =
        entry;
    write(variant);
    write(target);
    write(options);
    write(spec_constants);
    write(!m_unit_keys.empty());
    if (!m_unit_keys.empty()) {
      put(m_unit_keys.front().bytes);
      m_unit_keys = m_unit_keys.subspan(1);
      return;
    }
    write(payload);
    write(kernels);
    write(build_log);
    write(tools);
  }

  void write(const base::KeptBytes& payload) {
    const auto bytes = payload.read();
    if (bytes.has_value()) {
      write(bytes->view());
    } else {
      m_status = tl::unexpected(bytes.error());
    }
  }

  // The last error of reading payloads.
  [[nodiscard]] Result<Digest> finish() {
    CLBIN_TRY(m_status);
    return RecordHasher::finish();
  }

private:
  std::span<const Digest> m_unit_keys; // of the entries to come
  Result<void> m_status;
};

} // namespace

std::vector<Variable> process_environment() {
  std::vector<Variable> variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text = *line;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.push_back(
          {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
    }
  }
  const auto by_name = [](const Variable& a, const Variable& b) { return a.name < b.name; };
  const auto same_name = [](const Variable& a, const Variable& b) { return a.name == b.name; };
  std::stable_sort(variables.begin(), variables.end(), by_name);
  variables.erase(std::unique(variables.begin(), variables.end(), same_name), variables.end());
  return variables;
}

std::vector<Variable> driver_variables(const std::vector<Variable>& environment,
                                       DeviceFamily family) {
  std::vector<Variable> chosen;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(chosen),
               [family](const Variable& variable) { return is_for_driver(variable.name, family); });
  return chosen;
}

std::vector<Variable> tool_variables(const std::vector<Variable>& environment,
                                     DeviceFamily family) {
  std::vector<Variable> chosen;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(chosen),
               [family](const Variable& variable) {
                 return is_for_driver(variable.name, family) || is_read_by_tools(variable.name);
               });
  return chosen;
}

bool chooses_libraries(const Variable& variable) {
  return is_for_all(variable.name);
}

std::optional<std::string> unshared_variable(const std::vector<Variable>& environment) {
  const auto found = std::ranges::find_if(environment, [](const Variable& variable) {
    return !variable.value.empty() &&
           std::ranges::find(k_unshared, variable.name) != std::end(k_unshared);
  });
  return found == environment.end() ? std::nullopt : std::optional(found->name);
}

CompilerFacts compiler_facts(const worker::WorkerSettings& settings) {
  return {OCLCC_VERSION, file_stamp(settings.executable), process_environment()};
}

std::string file_stamp(const std::filesystem::path& file) {
  std::error_code size_error;
  std::error_code time_error;
  const auto size = std::filesystem::file_size(file, size_error);
  const auto changed = std::filesystem::last_write_time(file, time_error);
  if (size_error || time_error) {
    return {};
  }
  return fmt::format("{} bytes, changed at {}", size, changed.time_since_epoch().count());
}

// Names every member, so that adding a member is a compile error until its effect on the recipe is
// decided here.
Recipe unit_recipe(std::string subject, const Unit& unit, const worker::DeviceDescription& device,
                   const std::string& library_stamp, const CompilerFacts& facts) {
  const auto& [target_number, source, options, specializations, binary, kernels] = unit;
  const auto& [platform_number, device_number, type, compiler_available, driver_library, identity,
               properties] = device;
  const auto& [version, executable, environment] = facts;
  Recipe recipe{std::move(subject), {}};
  clbin::cache::add_source(recipe, *source);
  recipe.ingredients.push_back({"options", options.text()});
  if (worker::needs_specialization(format::device_family(identity))) {
    for (const auto& [kernel, size, has_offset] : specializations) {
      recipe.ingredients.push_back({"specialized size of " + kernel,
                                    to_string(size) + (has_offset ? " with an offset" : "")});
    }
  }
  clbin::cache::add_identity(recipe, identity);
  recipe.ingredients.push_back({"driver library", library_stamp, ShowValue::no});
  for (const auto& [name, value] : driver_variables(environment, format::device_family(identity))) {
    recipe.ingredients.push_back({"environment variable " + name, value});
  }
  recipe.ingredients.push_back({"oclcc version", version});
  recipe.ingredients.push_back({"oclcc executable", executable, ShowValue::no});
  return recipe;
}

Recipe offline_unit_recipe(std::string subject, const Unit& unit, const std::string& spec,
                           const std::vector<clbin::cache::Ingredient>& tools,
                           const CompilerFacts& facts) {
  Recipe recipe{std::move(subject), {}};
  clbin::cache::add_source(recipe, *unit.source);
  recipe.ingredients.push_back({"options", unit.options.text()});
  recipe.ingredients.push_back({"target", spec});
  add_tools(recipe, spec, tools, facts);
  return recipe;
}

base::Digest preparation_key(const std::string& name, const std::string& spec,
                             const std::vector<clbin::cache::Ingredient>& tools,
                             const CompilerFacts& facts) {
  Recipe recipe{{}, {{"preparation", name}}};
  add_tools(recipe, spec, tools, facts);
  return clbin::cache::recipe_key(recipe);
}

Recipe converted_recipe(std::string subject, const Recipe& input,
                        const std::vector<clbin::cache::Ingredient>& conversion) {
  Recipe recipe{std::move(subject), input.ingredients};
  recipe.ingredients.insert(recipe.ingredients.end(), conversion.begin(), conversion.end());
  return recipe;
}

std::string describe_change(const IngredientChange& change) {
  switch (change.kind) {
  case IngredientChange::Kind::changed:
    return change.before == change.now ? fmt::format("{} changed", change.name)
                                       : fmt::format("{} changed from '{}' to '{}'", change.name,
                                                     change.before, change.now);
  case IngredientChange::Kind::added:
    return fmt::format("{} is new", change.name);
  case IngredientChange::Kind::removed:
    return fmt::format("{} is gone", change.name);
  case IngredientChange::Kind::reordered:
    break;
  }
  return "the order of headers or variables changed";
}

std::optional<std::string> processor_of(std::string_view cpuinfo) {
  std::set<std::string> facts; // cores differ in some processors
  bool has_features = false;
  for (const std::string_view line : base::split_lines(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view name = base::without_blanks(line.substr(0, colon));
    const std::string_view value = base::without_blanks(line.substr(colon + 1));
    if (is_features(name)) {
      has_features = true;
      facts.insert(fmt::format("{}: {}", name, sorted_words(value)));
    } else if (is_model(name)) {
      facts.insert(fmt::format("{}: {}", name, value));
    }
  }
  return has_features ? std::optional(fmt::format("{}", fmt::join(facts, "\n"))) : std::nullopt;
}

std::string read_cpuinfo() {
  const auto bytes = base::read_whole_file("/proc/cpuinfo", k_max_cpuinfo_bytes);
  return bytes.has_value() ? std::string(base::as_text(*bytes)) : std::string();
}

RemoteKeys::RemoteKeys(const CompilerFacts& facts, const std::filesystem::path& executable,
                       const std::vector<BuildTarget>& targets, ContentDigests& digests,
                       std::string_view cpuinfo)
    : m_facts(facts), m_targets(&targets), m_processor(processor_of(cpuinfo)) {
  m_facts.executable = digests.of(executable).value_or("");
  for (const BuildTarget& target : targets) {
    const bool has_library = target.device && !target.device->driver_library.empty();
    m_libraries.push_back(has_library ? digests.of(target.device->driver_library) : std::nullopt);
  }
}

std::optional<Digest> RemoteKeys::key_of(const Unit& unit, std::size_t target) const {
  const BuildTarget& built = (*m_targets)[target];
  if (m_facts.executable.empty()) {
    return std::nullopt;
  }
  if (!built.device) {
    return built.shared_facts ? std::optional(key_of_recipe(offline_unit_recipe(
                                    {}, unit, built.target.spec, *built.shared_facts, m_facts)))
                              : std::nullopt;
  }
  const bool is_processor = (built.device->type & CL_DEVICE_TYPE_CPU) != 0;
  if (!m_libraries[target] || (is_processor && !m_processor)) {
    return std::nullopt;
  }
  Recipe recipe = unit_recipe({}, unit, *built.device, *m_libraries[target], m_facts);
  if (is_processor) {
    recipe.ingredients.push_back({"processor", *m_processor, ShowValue::no});
  }
  return key_of_recipe(recipe);
}

std::optional<Digest> RemoteKeys::converted_key(const std::optional<Digest>& input,
                                                std::size_t target) const {
  const auto& facts = (*m_targets)[target].shared_facts;
  if (!input || !facts) {
    return std::nullopt;
  }
  const Recipe source{{}, {{"input", base::to_hex(*input), ShowValue::no}}};
  return key_of_recipe(converted_recipe({}, source, *facts));
}

Result<Digest> bundle_key(const BundleOfUnits& bundle, const format::WriteOptions& options,
                          std::string_view executable) {
  const auto& [input, unit_keys] = bundle;
  const auto& [producer, programs] = input;
  // No encrypted bundle is cached, and compressed sources do not change the bytes.
  const auto& [compression_level, spill, encryption, max_stored_bytes, sources] = options;
  BundleHasher hasher(unit_keys);
  hasher.write(k_bundle_key_label);
  hasher.write(std::string_view(OCLCC_VERSION));
  hasher.write(executable);
  hasher.write(base::zstd_version());
  hasher.write(format::k_format_major);
  hasher.write(format::k_format_minor);
  hasher.write(compression_level);
  hasher.write(max_stored_bytes);
  hasher.write(producer);
  hasher.write(programs);
  return hasher.finish();
}

} // namespace oclcc
