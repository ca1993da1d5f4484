#include "units/recipes.hpp"

#include "base/system/process.hpp"
#include "base/text.hpp"
#include "base/zstd_codec.hpp"
#include "listing/launch_compilation.hpp"

#include <CL/cl.h>
#include <fmt/format.h>
#include <iterator>
#include <system_error>

namespace oclcc {

using base::Digest;
using clbin::cache::IngredientChange;
using clbin::cache::ShowValue;
using format::DeviceFamily;

namespace {

constexpr std::pair<DeviceFamily, std::string_view> k_prefixes[] = {
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

bool fits_any(std::string_view name, std::span<const std::string_view> patterns) {
  return std::ranges::any_of(patterns, [name](std::string_view pattern) {
    return pattern.ends_with('_') ? name.starts_with(pattern) : name == pattern;
  });
}

bool is_for_driver(std::string_view name, DeviceFamily family) {
  const auto is_read = [&](const auto& prefix) {
    return prefix.first == family && name.starts_with(prefix.second);
  };
  return fits_any(name, k_for_all) ||
         (std::ranges::any_of(k_prefixes, is_read) && !fits_any(name, k_harmless));
}

// What compilers are, what they read besides their input, and the oclcc that calls them.
void add_compiler(Recipe& recipe, const format::Target& target, const Ingredients& compiler,
                  const CompilerFacts& facts) {
  recipe.ingredients.insert(recipe.ingredients.end(), compiler.begin(), compiler.end());
  const auto family = format::target_family(target);
  for (const auto& [name, value] : target.origin == format::TargetOrigin::offline
                                       ? tool_variables(facts.environment, family)
                                       : driver_variables(facts.environment, family)) {
    recipe.ingredients.push_back({"environment variable " + name, value});
  }
  recipe.ingredients.push_back({"oclcc version", facts.version});
  recipe.ingredients.push_back({"oclcc executable", facts.executable, ShowValue::no});
}

// A new label leaves all older entries behind, so that no client reads what another means.
constexpr std::string_view k_remote_key_label = "oclcc-remote-unit-1";
constexpr std::uint64_t k_max_cpuinfo_bytes = 16U << 20U;

Digest key_of_recipe(const Recipe& recipe) {
  return base::Hasher()
      .add_field(k_remote_key_label)
      .add(clbin::cache::recipe_key(recipe).bytes)
      .finish();
}

// Of x86 and of Arm.
constexpr std::string_view k_features[] = {"flags", "Features"};
constexpr std::string_view k_model[] = {"vendor_id",       "cpu family",       "model",
                                        "CPU implementer", "CPU architecture", "CPU variant",
                                        "CPU part"};

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
    const auto& [variant, target, options, raw_digest, kernels, build_log, tools, spec_constants] =
        static_cast<const format::ManifestEntry&>(entry); // raw_digest follows from the payload
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
    write(entry.payload);
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
  for (const std::string& text : base::environment_variables()) {
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.push_back({text.substr(0, equals), text.substr(equals + 1)});
    }
  }
  std::ranges::stable_sort(variables, {}, &Variable::name);
  const auto is_repeated = [](const Variable& a, const Variable& b) { return a.name == b.name; };
  const auto repeated = std::unique(variables.begin(), variables.end(), is_repeated);
  variables.erase(repeated, variables.end());
  return variables;
}

std::vector<Variable> driver_variables(std::vector<Variable> environment, DeviceFamily family) {
  std::erase_if(environment, [family](const Variable& variable) {
    return !is_for_driver(variable.name, family);
  });
  return environment;
}

std::vector<Variable> tool_variables(std::vector<Variable> environment, DeviceFamily family) {
  std::erase_if(environment, [family](const Variable& variable) {
    return !is_for_driver(variable.name, family) && !fits_any(variable.name, k_of_tools);
  });
  return environment;
}

bool chooses_libraries(const Variable& variable) {
  return fits_any(variable.name, k_for_all);
}

std::optional<std::string> unshared_variable(const std::vector<Variable>& environment) {
  const auto found = std::ranges::find_if(environment, [](const Variable& variable) {
    return !variable.value.empty() && fits_any(variable.name, k_unshared);
  });
  return found == environment.end() ? std::nullopt : std::optional(found->name);
}

CompilerFacts compiler_facts(const std::filesystem::path& executable) {
  return {OCLCC_VERSION, file_stamp(executable), process_environment()};
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

void add_driver_facts(std::vector<BuildTarget>& targets, ContentDigests* contents,
                      std::string_view cpuinfo) {
  const auto processor = processor_of(cpuinfo);
  for (BuildTarget& target : targets) {
    if (!target.device) {
      continue;
    }
    const std::string& library = target.device->driver_library;
    target.compiler_facts = {{"driver library", file_stamp(library), ShowValue::no}};
    const bool is_processor = (target.device->type & CL_DEVICE_TYPE_CPU) != 0;
    const auto digest =
        contents != nullptr && !library.empty() ? contents->of(library) : std::nullopt;
    if (digest && (!is_processor || processor)) {
      target.shared_facts = {{"driver library", *digest, ShowValue::no}};
      if (is_processor) {
        target.shared_facts->push_back({"processor", *processor, ShowValue::no});
      }
    }
  }
}

// Names every member of the unit and of the target, so that adding a member is a compile error
// until its effect on the recipe is decided here.
Recipe unit_recipe(std::string subject, const Unit& unit, const BuildTarget& target,
                   const Ingredients& compiler, const CompilerFacts& facts) {
  const auto& [target_number, source, options, specializations, binary, kernels] = unit;
  const auto& [origin, identity, spec] = target.target;
  Recipe recipe{std::move(subject), {}};
  clbin::cache::add_source(recipe, *source);
  recipe.ingredients.push_back({"options", options.text()});
  if (origin == format::TargetOrigin::offline) {
    recipe.ingredients.push_back({"target", spec});
  } else {
    if (clbin::listing::needs_specialization(format::device_family(identity))) {
      for (const auto& [kernel, size, has_offset] : specializations) {
        recipe.ingredients.push_back(
            {"specialized size of " + kernel,
             clbin::listing::to_string(size) + (has_offset ? " with an offset" : "")});
      }
    }
    clbin::cache::add_identity(recipe, identity);
  }
  add_compiler(recipe, target.target, compiler, facts);
  return recipe;
}

base::Digest preparation_key(const std::string& name, const std::string& spec,
                             const Ingredients& tools, const CompilerFacts& facts) {
  Recipe recipe{{}, {{"preparation", name}}};
  add_compiler(recipe, {format::TargetOrigin::offline, {}, spec}, tools, facts);
  return clbin::cache::recipe_key(recipe);
}

Recipe converted_recipe(std::string subject, const Recipe& input, const Ingredients& conversion) {
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
    if (fits_any(name, k_features)) {
      has_features = true;
      const auto words = base::words_between_spaces(value);
      facts.insert(
          fmt::format("{}: {}", name, fmt::join(std::set(words.begin(), words.end()), " ")));
    } else if (fits_any(name, k_model)) {
      facts.insert(fmt::format("{}: {}", name, value));
    }
  }
  return has_features ? std::optional(fmt::format("{}", fmt::join(facts, "\n"))) : std::nullopt;
}

std::string read_cpuinfo() {
  const auto bytes = base::read_whole_file("/proc/cpuinfo", k_max_cpuinfo_bytes);
  return bytes.has_value() ? std::string(base::as_text(*bytes)) : std::string();
}

std::optional<CompilerFacts> shared_facts(CompilerFacts facts,
                                          const std::filesystem::path& executable,
                                          ContentDigests& digests) {
  auto contents = digests.of(executable);
  facts.executable = contents.value_or("");
  return contents ? std::optional(std::move(facts)) : std::nullopt;
}

std::optional<Digest> remote_key(const Unit& unit, const BuildTarget& target,
                                 const std::optional<CompilerFacts>& shared) {
  if (!shared || !target.shared_facts) {
    return std::nullopt;
  }
  return key_of_recipe(unit_recipe({}, unit, target, *target.shared_facts, *shared));
}

std::optional<Digest> converted_remote_key(const std::optional<Digest>& input,
                                           const BuildTarget& target) {
  if (!input || !target.shared_facts) {
    return std::nullopt;
  }
  const Recipe source{{}, {{"input", base::to_hex(*input), ShowValue::no}}};
  return key_of_recipe(converted_recipe({}, source, *target.shared_facts));
}

Result<Digest> bundle_key(const BundleOfUnits& bundle, const format::WriteOptions& options,
                          std::string_view executable) {
  const auto& [input, unit_keys] = bundle;
  const auto& [producer, programs] = input;
  // No encrypted bundle is cached, a compile makes no packs, and compressed sources do not change
  // the bytes.
  const auto& [compression_level, spill, encryption, packs, sources] = options;
  BundleHasher hasher(unit_keys);
  hasher.write(k_bundle_key_label);
  hasher.write(std::string_view(OCLCC_VERSION));
  hasher.write(executable);
  hasher.write(base::zstd_version());
  hasher.write(format::k_format_major);
  hasher.write(format::k_format_minor);
  hasher.write(compression_level);
  hasher.write(producer);
  hasher.write(programs);
  return hasher.finish();
}

} // namespace oclcc
