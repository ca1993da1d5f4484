// What identifies units and bundles in the caches. A recipe names everything that a result depends
// on, and a key is its digest (doc/decisions/recipes.md).
#pragma once

#include "format/bundle/bundle_writer.hpp"
#include "units/content_digests.hpp"
#include "units/unit.hpp"

namespace oclcc {

using clbin::cache::Recipe;
using Ingredients = std::vector<clbin::cache::Ingredient>;

struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Returns the environment of the process, sorted by name. The first variable of a name applies, as
// for getenv.
[[nodiscard]] std::vector<Variable> process_environment();

// Returns the variables that the compiler of such a device may read. They are recognized by the
// prefixes of the drivers, because the drivers' documents list them incompletely. One variable too
// many costs a build, one too few a wrong binary. Excludes variables that only select cache
// directories or visible devices, and variables that oclcc sets for every worker.
[[nodiscard]] std::vector<Variable> driver_variables(std::vector<Variable> environment,
                                                     format::DeviceFamily family);
// Returns the variables that the compilers of an offline target of this family may read: those of
// driver_variables, because ocloc reads IGC_ForceOCLSIMDWidth, and those of clang, lld and
// llvm-spirv, such as CCC_OVERRIDE_OPTIONS.
[[nodiscard]] std::vector<Variable> tool_variables(std::vector<Variable> environment,
                                                   format::DeviceFamily family);
// Whether such a variable chooses libraries of the compiler. Its value is of one machine.
[[nodiscard]] bool chooses_libraries(const Variable& variable);
// Returns the name of a variable by which the environment loads libraries into every compiler, such
// as LD_PRELOAD, and which may be others on another machine. std::nullopt if there is none.
[[nodiscard]] std::optional<std::string>
unshared_variable(const std::vector<Variable>& environment);

// Dependencies that all units of a run share.
struct CompilerFacts {
  std::string version;    // oclcc's
  std::string executable; // file_stamp: a rebuilt oclcc of the same version is a different compiler
  std::vector<Variable> environment;
};
// Returns the facts of the oclcc that is `executable`, which the workers run.
[[nodiscard]] CompilerFacts compiler_facts(const std::filesystem::path& executable);

// Returns the size and modification time, which ccache uses to distinguish compilers; empty if the
// file does not exist.
[[nodiscard]] std::string file_stamp(const std::filesystem::path& file);

// Fills the facts of the drivers of `targets`: their libraries by size and time, because drivers
// are rebuilt under the same version. If `contents` is not null, also what all machines share:
// libraries by their contents, and the processor of a CPU, from `cpuinfo`.
void add_driver_facts(std::vector<BuildTarget>& targets, ContentDigests* contents,
                      std::string_view cpuinfo);

// Returns the recipe of `unit`, which must be built from source for `target`: results of loading a
// binary are not stored. `compiler` are the target's facts. The recipe contains neither device
// numbers nor the user's paths. `subject` is the same as Recipe::subject.
[[nodiscard]] Recipe unit_recipe(std::string subject, const Unit& unit, const BuildTarget& target,
                                 const Ingredients& compiler, const CompilerFacts& facts);
// The same for a unit that converts the binary of another unit, with the recipe `input`.
[[nodiscard]] Recipe converted_recipe(std::string subject, const Recipe& input,
                                      const Ingredients& conversion);

// Returns the key of what `tools` make once for all units of offline targets such as `spec`. `name`
// covers everything else that it is made of.
[[nodiscard]] base::Digest preparation_key(const std::string& name, const std::string& spec,
                                           const Ingredients& tools, const CompilerFacts& facts);

// Returns "header 'tile.h' changed", "driver version changed from '3.1' to '3.2'".
[[nodiscard]] std::string describe_change(const clbin::cache::IngredientChange& change);

// Returns what compilers for the processor of a machine may depend on, from the text of Linux's
// /proc/cpuinfo: vendor, family, model and features, sorted, whatever the number of cores.
// std::nullopt if the text contains no features.
[[nodiscard]] std::optional<std::string> processor_of(std::string_view cpuinfo);
// Returns the text of /proc/cpuinfo; empty if it cannot be read.
[[nodiscard]] std::string read_cpuinfo();

// Returns `facts` with the digest of the contents of `executable`; std::nullopt if it cannot be
// read.
[[nodiscard]] std::optional<CompilerFacts>
shared_facts(CompilerFacts facts, const std::filesystem::path& executable, ContentDigests& digests);
// Return the key of a unit for the remote cache: of one that is built from source, with
// shared_facts(), and of one that converts the binary of the unit with the key `input`.
// std::nullopt: the unit is not shared, because a file that it depends on is not known or cannot be
// read.
[[nodiscard]] std::optional<base::Digest> remote_key(const Unit& unit, const BuildTarget& target,
                                                     const std::optional<CompilerFacts>& shared);
[[nodiscard]] std::optional<base::Digest>
converted_remote_key(const std::optional<base::Digest>& input, const BuildTarget& target);

// The contents of a bundle, and the keys (recipe_key) of the units that its first entries are the
// results of, in the order of the programs and of their entries. The other entries are of no unit.
struct BundleOfUnits {
  format::BundleInput input;
  std::vector<base::Digest> unit_keys;
};

// If two keys are equal, the bundles have the same names, sources and options, and results of equal
// units. The key covers the key of a unit in place of what its compiler returned (payload, kernels,
// build log, tools), so that a run of hits reads no payload for it. Of an entry without a unit, it
// covers everything. It also covers `options`, the versions of the format, of libzstd and of oclcc,
// and `executable`, the file_stamp of the writing oclcc. The same input in a different order has a
// different key. Returns errors of reading payloads.
[[nodiscard]] Result<base::Digest> bundle_key(const BundleOfUnits& bundle,
                                              const format::WriteOptions& options,
                                              std::string_view executable);

} // namespace oclcc
