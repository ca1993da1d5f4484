// A plan: the units of a build, for another engine to run, and the steps that make one bundle of
// their results. The commands run in the directory in which the plan was made, or in a copy of it.
#pragma once

#include "cache/compile_cache.hpp"
#include "compile/compile_job.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace oclcc::plan {

using Words = std::vector<std::string>;

struct PlanUnit {
  std::string key; // 64 hexadecimal digits
  std::string program;
  std::string variant;
  std::string target;              // the device's name or the offline target, for people
  std::string feature;             // machine_feature.hpp
  std::vector<std::string> inputs; // the main file, then its headers
  // The command without "oclcc": before and after "-o OUTPUT".
  Words options;
  Words input;
  std::string output; // the bundle of the unit, in the folder of the plan
};

// "oclcc" and these words write one file.
struct PlanStep {
  Words words;
  std::string output;
};

struct Plan {
  std::string folder; // next to the bundle, with the suffix ".plan"
  std::string bundle; // the result
  std::string
      id; // the start of a digest of the plan; names files that other plans must not replace
  std::vector<PlanUnit> units;     // units with one feature are consecutive
  std::size_t cached = 0;          // units that the compile cache contains
  std::string ready;               // a bundle of them and of SPIR-V modules; empty: none
  std::string merge_list;          // a response file: the bundles to merge
  std::vector<std::string> inputs; // all files that the plan was made of
  std::vector<PlanStep> steps;     // after all units: merge, then repack
};

// Returns the words of the command of a unit, after "oclcc".
[[nodiscard]] Words command_of(const PlanUnit& unit);

// Plans the units of `job`, whose targets are complete, and takes those that `cache` contains out
// of it: `job` then contains what the bundle `ready` must contain. Errors of reading SPIR-V
// modules.
[[nodiscard]] clbin::base::Result<Plan> make_plan(Job& job, const Options& options,
                                                  const std::filesystem::path& bundle,
                                                  const CompilerFacts& facts, CompileCache& cache);

} // namespace oclcc::plan
