// What identifies units and bundles in the caches. A recipe names everything that a result depends
// on, and a key is its digest (doc/decisions/recipes.md).
#pragma once

#include "cache/content_digests.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Returns the environment of the process, sorted by name. The first variable of a name applies, as
// for getenv.
[[nodiscard]] std::vector<Variable> process_environment();

// Returns the variables that the compiler of such a device may read. They are recognized by the
// prefixes of the drivers, because the drivers' documents list them incompletely (PoCL:
// POCL_EXTRA_BUILD_FLAGS, POCL_MAX_WORK_GROUP_SIZE; Oclgrind: OCLGRIND_BUILD_OPTIONS; IGC's flags).
// One variable too many costs a build, one too few a wrong binary. Excludes variables that only
// select cache directories or visible devices, and variables that oclcc sets for every worker.
[[nodiscard]] std::vector<Variable> driver_variables(const std::vector<Variable>& environment,
                                                     format::DeviceFamily family);

// Whether a variable of driver_variables() or tool_variables() chooses libraries of the compiler.
// Such values are paths of one machine.
[[nodiscard]] bool chooses_libraries(const Variable& variable);

// Returns the variables that the compilers of an offline target of this family may read: those of
// driver_variables, because ocloc reads IGC_ForceOCLSIMDWidth, and those of clang, lld and
// llvm-spirv, such as CCC_OVERRIDE_OPTIONS.
[[nodiscard]] std::vector<Variable> tool_variables(const std::vector<Variable>& environment,
                                                   format::DeviceFamily family);

// Returns the name of a variable by which the environment loads libraries into every compiler, such
// as LD_PRELOAD. Another machine may have other libraries at the same paths. std::nullopt if there
// is none.
[[nodiscard]] std::optional<std::string>
unshared_variable(const std::vector<Variable>& environment);

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
[[nodiscard]] base::Digest preparation_key(const std::string& name, const std::string& spec,
                                           const std::vector<clbin::cache::Ingredient>& tools,
                                           const CompilerFacts& facts);

// Returns the recipe of a unit that converts the binary of another unit, with the recipe `input`.
[[nodiscard]] clbin::cache::Recipe
converted_recipe(std::string subject, const clbin::cache::Recipe& input,
                 const std::vector<clbin::cache::Ingredient>& conversion);

// Returns "header 'tile.h' changed", "driver version changed from '3.1' to '3.2'".
[[nodiscard]] std::string describe_change(const clbin::cache::IngredientChange& change);

// Returns what compilers for the processor of a machine may depend on, from the text of Linux's
// /proc/cpuinfo: vendor, family, model and features, sorted, whatever the number of cores.
// std::nullopt if the text contains no features.
[[nodiscard]] std::optional<std::string> processor_of(std::string_view cpuinfo);

// The keys of the units of a run. Thread-safe after construction.
class RemoteKeys {
public:
  // Reads the drivers' libraries and `executable`, that of oclcc's workers. `cpuinfo` is as for
  // processor_of. `targets` must outlive this object.
  RemoteKeys(const CompilerFacts& facts, const std::filesystem::path& executable,
             const std::vector<BuildTarget>& targets, ContentDigests& digests,
             std::string_view cpuinfo);

  // Returns the key of a unit that is built from source for `targets[target]`. std::nullopt if a
  // file that it depends on is not known or cannot be read: the unit is not shared.
  [[nodiscard]] std::optional<base::Digest> key_of(const Unit& unit, std::size_t target) const;
  // Returns the key of a unit that converts the binary of the unit with the key `input`.
  [[nodiscard]] std::optional<base::Digest> converted_key(const std::optional<base::Digest>& input,
                                                          std::size_t target) const;

private:
  CompilerFacts m_facts; // `executable` is the digest of its contents; empty if it is not known
  const std::vector<BuildTarget>* m_targets;
  std::vector<std::optional<std::string>> m_libraries; // of drivers; as m_targets
  std::optional<std::string> m_processor;
};

// Returns the text of /proc/cpuinfo; empty if it cannot be read.
[[nodiscard]] std::string read_cpuinfo();

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
