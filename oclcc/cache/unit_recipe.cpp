#include "cache/unit_recipe.hpp"

#include "worker/first_launch.hpp"

#include <system_error>

namespace oclcc {

using clbin::cache::IngredientChange;
using clbin::cache::Recipe;
using clbin::cache::ShowValue;

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
  if (worker::needs_specialization(clbin::format::device_family(identity))) {
    for (const auto& [kernel, size, has_offset] : specializations) {
      recipe.ingredients.push_back({"specialized size of " + kernel,
                                    to_string(size) + (has_offset ? " with an offset" : "")});
    }
  }
  clbin::cache::add_identity(recipe, identity);
  recipe.ingredients.push_back({"driver library", library_stamp, ShowValue::no});
  for (const auto& [name, value] :
       driver_variables(environment, clbin::format::device_family(identity))) {
    recipe.ingredients.push_back({"environment variable " + name, value});
  }
  recipe.ingredients.push_back({"oclcc version", version});
  recipe.ingredients.push_back({"oclcc executable", executable, ShowValue::no});
  return recipe;
}

namespace {

// What the compilers of an offline target are, and what they read besides their input.
void add_tools(Recipe& recipe, const std::string& spec,
               const std::vector<clbin::cache::Ingredient>& tools, const CompilerFacts& facts) {
  recipe.ingredients.insert(recipe.ingredients.end(), tools.begin(), tools.end());
  clbin::format::Target target;
  target.origin = clbin::format::TargetOrigin::offline;
  target.spec = spec;
  for (const auto& [name, value] :
       tool_variables(facts.environment, clbin::format::target_family(target))) {
    recipe.ingredients.push_back({"environment variable " + name, value});
  }
  recipe.ingredients.push_back({"oclcc version", facts.version});
  recipe.ingredients.push_back({"oclcc executable", facts.executable, ShowValue::no});
}

} // namespace

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

clbin::base::Digest preparation_key(const std::string& name, const std::string& spec,
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

} // namespace oclcc
