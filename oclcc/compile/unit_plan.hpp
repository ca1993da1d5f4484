// A plan: the units of a build, for another engine to run, and the steps that make one bundle of
// their results. The commands run in the directory in which the plan was made, or in a copy of it.
#pragma once

#include "compile/compile_job.hpp"

namespace oclcc::plan {

// Returns the key of a unit of a job: of a program in a variant for a target that is built from
// source, together with what is converted from its binary. It covers everything that the bundle of
// the unit depends on: names, source, options, the target with its compiler, the variables that the
// compiler reads, and oclcc's version. Unlike the key of the compile cache, it is the same on every
// machine with the same devices and tools, because it covers neither times of files nor variables
// that choose libraries; but two drivers that report the same versions are the same to it.
[[nodiscard]] base::Digest unit_key(const Job& job, const Options& options,
                                    const CompilerFacts& facts, const UnitPlace& place);

// --unit: leaves only the unit `key` in `job`, whose targets are complete. invalid_argument: the
// job has several programs or targets, or the unit is not in it, because something that its key
// covers has changed since the plan was made.
[[nodiscard]] Result<void> keep_unit(Job& job, const Options& options, const CompilerFacts& facts,
                                     const base::Digest& key);

using Words = std::vector<std::string>;

struct PlanUnit {
  std::string key; // 64 hexadecimal digits
  std::string program;
  std::string variant;
  std::string target;              // the device's name or the offline target, for people
  std::string feature;             // machine_description.hpp
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
[[nodiscard]] Result<Plan> make_plan(Job& job, const Options& options,
                                     const std::filesystem::path& bundle,
                                     const CompilerFacts& facts, CompileCache& cache);

// Writes the files of `options`' format, and what they need: the folder, the list of bundles to
// merge, and the bundle of `job` (make_plan). Each appears whole, by rename. Returns the path of
// the file to give to the engine. Errors: file_write; invalid_argument: a name that the format
// cannot contain.
[[nodiscard]] Result<std::string> write_plan(const Plan& plan, Job& job, const Options& options);

// invalid_argument: a word contains a line break, which no line of an engine can contain.
[[nodiscard]] Result<void> require_lines(const std::vector<std::string>& words);
// Returns words for a POSIX shell, each after a space: " --unit 'a b'".
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);
// Return a value of a variable of ninja(1), and a name in a build statement, in a file with the
// line "pipe = |".
[[nodiscard]] std::string ninja_value(std::string_view text);
[[nodiscard]] std::string ninja_path(std::string_view path);

} // namespace oclcc::plan
