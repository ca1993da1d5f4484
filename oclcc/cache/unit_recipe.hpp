// What the result of a unit depends on: the key of the compile cache, and what makes one unit of
// two that are the same.
#pragma once

#include "cache/cache_recipe.hpp"
#include "cache/driver_variables.hpp"
#include "worker/unit_builder.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// What is the same for all units of a run.
struct CompilerFacts {
  std::string version;    // oclcc's
  std::string executable; // file_stamp: what was built again under one version is another compiler
  std::vector<Variable> environment;
};
// Of the oclcc that the workers run.
[[nodiscard]] CompilerFacts compiler_facts(const worker::WorkerSettings& settings);

// Size and time of the last change, as ccache tells compilers apart; empty where there is no such
// file.
[[nodiscard]] std::string file_stamp(const std::filesystem::path& file);

// A driver that was built again without a new version is told by its library's `library_stamp`.
// `unit` is to be built of its source: nothing is kept of a binary that was only loaded.
// Neither the numbers of the device nor the user's paths are in it. `subject` as Recipe::subject.
[[nodiscard]] clbin::cache::Recipe unit_recipe(std::string subject, const worker::Unit& unit,
                                               const worker::DeviceDescription& device,
                                               const std::string& library_stamp,
                                               const CompilerFacts& facts);

// "header 'tile.h' changed", "driver version changed from '3.1' to '3.2'".
[[nodiscard]] std::string describe_change(const clbin::cache::IngredientChange& change);

} // namespace oclcc
