// Rules that tell make and ninja which files an output was made from; gcc's -M options.
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
  std::filesystem::path file;       // "-": standard output
  std::vector<std::string> targets; // as the rule spells them
  PhonyHeaders phony = PhonyHeaders::no;
};

// Options::depfile_mode is not none. `output` is the bundle's own name, "-" where it goes to
// standard output. invalid_argument: no name can be chosen for the rule's file or its target, or
// the file is the output.
[[nodiscard]] clbin::base::Result<DepfilePlan> plan_depfile(const Options& options,
                                                            const std::filesystem::path& output);
// For -M without a bundle: the rule goes to -MF, else to -o, else to standard output.
[[nodiscard]] clbin::base::Result<DepfilePlan> plan_rule_only(const Options& options);

// One rule for all of `files`, lines broken as gcc does. With PhonyHeaders::yes a rule without
// prerequisites for each file that is not in `inputs`: make goes on when one of them is gone.
// invalid_argument: a name with a line break, which no rule can hold.
[[nodiscard]] clbin::base::Result<std::string>
dependency_rule(const DepfilePlan& plan, std::span<const std::filesystem::path> files,
                std::span<const Input> inputs);

} // namespace oclcc
