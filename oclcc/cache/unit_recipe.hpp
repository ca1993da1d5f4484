// The dependencies of a unit's result: the key in the compile cache, and the criterion for
// identical units.
#pragma once

#include "cache/cache_recipe.hpp"
#include "cache/driver_variables.hpp"
#include "units/unit.hpp"
#include "worker/worker_process.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Dependencies that all units of a run share.
struct CompilerFacts {
  std::string version;    // oclcc's
  std::string executable; // file_stamp: a rebuilt oclcc of the same version is a different compiler
  std::vector<Variable> environment;
};
// Returns the facts of the oclcc that the workers run.
[[nodiscard]] CompilerFacts compiler_facts(const worker::WorkerSettings& settings);

// Returns the size and modification time, which ccache uses to distinguish compilers; empty if the
// file does not exist.
[[nodiscard]] std::string file_stamp(const std::filesystem::path& file);

// Returns the recipe of `unit`, which must be built from source: results of loading a binary are
// not stored. `library_stamp` distinguishes rebuilt drivers of the same version. The recipe
// contains neither device numbers nor the user's paths. `subject` is the same as Recipe::subject.
[[nodiscard]] clbin::cache::Recipe unit_recipe(std::string subject, const Unit& unit,
                                               const worker::DeviceDescription& device,
                                               const std::string& library_stamp,
                                               const CompilerFacts& facts);

// Returns the recipe of a unit for an offline target, spelled `spec`, whose compilers are `tools`.
[[nodiscard]] clbin::cache::Recipe
offline_unit_recipe(std::string subject, const Unit& unit, const std::string& spec,
                    const std::vector<clbin::cache::Ingredient>& tools, const CompilerFacts& facts);

// Returns the key of what `tools` make once for all units of offline targets such as `spec`. `name`
// covers everything else that it is made of.
[[nodiscard]] clbin::base::Digest
preparation_key(const std::string& name, const std::string& spec,
                const std::vector<clbin::cache::Ingredient>& tools, const CompilerFacts& facts);

// Returns the recipe of a unit that converts the binary of another unit, with the recipe `input`.
[[nodiscard]] clbin::cache::Recipe
converted_recipe(std::string subject, const clbin::cache::Recipe& input,
                 const std::vector<clbin::cache::Ingredient>& conversion);

// Returns "header 'tile.h' changed", "driver version changed from '3.1' to '3.2'".
[[nodiscard]] std::string describe_change(const clbin::cache::IngredientChange& change);

} // namespace oclcc
