// Names the units of a plan by what they are built from.
#pragma once

#include "cache/unit_recipe.hpp"
#include "compile/compile_job.hpp"

#include <cstddef>
#include <vector>

namespace oclcc::plan {

// The keys of the units of a job: of a program in a variant for a target that is built from source,
// together with what is converted from its binary. A key covers everything that the bundle of the
// unit depends on: names, source, options, the target with its compiler, the variables that the
// compiler reads, and oclcc's version. Unlike the key of the compile cache, it is the same on every
// machine with the same devices and tools, because it covers neither times of files nor variables
// that choose libraries; but two drivers that report the same versions are the same to it.
// Thread-safe.
class UnitKeys {
public:
  // Reads every source of `job` once. `job` and `options` must outlive this object.
  UnitKeys(const Job& job, const Options& options, const CompilerFacts& facts);

  // The target must not be converted from another one.
  [[nodiscard]] clbin::base::Digest key_of(const UnitPlace& place) const;

private:
  const Job& m_job;
  clbin::base::Digest m_options; // of all units
  std::vector<clbin::base::Digest> m_programs;
  std::vector<clbin::base::Digest> m_targets;
};

// --unit: leaves only the unit `key` in `job`, whose targets are complete. invalid_argument: the
// job has several programs or targets, or the unit is not in it, because something that its key
// covers has changed since the plan was made.
[[nodiscard]] clbin::base::Result<void> keep_unit(Job& job, const Options& options,
                                                  const CompilerFacts& facts,
                                                  const clbin::base::Digest& key);

} // namespace oclcc::plan
