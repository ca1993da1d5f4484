// The files of a plan, in the formats of the engines that run it.
#pragma once

#include "plan/unit_plan.hpp"

#include <string>
#include <vector>

namespace oclcc::plan {

struct EngineFile {
  std::string path;
  std::string text;
};

// Return the files of a format, in the order in which they must be written: the last one names the
// others. invalid_argument: a name that the format cannot contain.
[[nodiscard]] clbin::base::Result<std::vector<EngineFile>> json_files(const Plan& plan);
// `words` is the command line that makes the plan, which ninja runs again if an input changes.
[[nodiscard]] clbin::base::Result<std::vector<EngineFile>> ninja_files(const Plan& plan,
                                                                       const Words& words);
[[nodiscard]] clbin::base::Result<std::vector<EngineFile>> parallel_files(const Plan& plan);
[[nodiscard]] clbin::base::Result<std::vector<EngineFile>> slurm_files(const Plan& plan);

// Writes the files of `options`' format, and what they need: the folder, the list of bundles to
// merge, and the bundle of `job` (make_plan). Each appears whole, by rename. Returns the path of
// the file to give to the engine. Errors: file_write, and those above.
[[nodiscard]] clbin::base::Result<std::string> write_plan(const Plan& plan, Job& job,
                                                          const Options& options);

} // namespace oclcc::plan
