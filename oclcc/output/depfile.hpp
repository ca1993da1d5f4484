// Dependency rules for make and ninja; gcc's -M options.
#pragma once

#include "base/result.hpp"
#include "command_line/options.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

struct DepfilePlan {
  std::filesystem::path file;       // "-" for standard output
  std::vector<std::string> targets; // escaped for the rule
  PhonyHeaders phony = PhonyHeaders::no;
};

// Requires that Options::depfile_mode is not none. `output` is the name of the bundle, or "-" for
// standard output. invalid_argument: the file or the target of the rule has no default name, or the
// file is the output.
[[nodiscard]] clbin::base::Result<DepfilePlan> plan_depfile(const Options& options,
                                                            const std::filesystem::path& output);
// Returns the plan for -M without a bundle. The rule goes to -MF, otherwise to -o, otherwise to
// standard output.
[[nodiscard]] clbin::base::Result<DepfilePlan> plan_rule_only(const Options& options);

// Returns one rule for all of `files`, with lines broken like gcc's. With PhonyHeaders::yes, adds a
// rule without prerequisites for each file that is not in `inputs`, so that make continues after
// the file is removed. invalid_argument: a name contains a line break.
[[nodiscard]] clbin::base::Result<std::string>
dependency_rule(const DepfilePlan& plan, std::span<const std::filesystem::path> files,
                std::span<const Input> inputs);

} // namespace oclcc
