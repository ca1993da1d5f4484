// --diff: lists the differences between the contents of two bundles.
#pragma once

#include "command_line/options.hpp"
#include "inspect/bundle_summary.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace oclcc {

// An item that only one bundle has, or that differs.
struct Difference {
  std::string what{}; // "program", "variant", "source", "options", "entry", "binary", "kernel"
  std::string program{};
  std::string variant{};               // empty for the program
  std::string target{};                // empty for the variant
  std::string kernel{};                // empty for the entry
  std::optional<std::string> before{}; // std::nullopt if only the second bundle has it
  std::optional<std::string> after{};  // std::nullopt if only the first bundle has it
};

// Returns the differences, sorted by program, variant and target. Ignores compression, build logs
// and tools.
[[nodiscard]] std::vector<Difference> differences(const BundleSummary& a, const BundleSummary& b);

// Prints the differences and returns k_bundles_differ if there are any. Does not compare damaged
// bundles.
[[nodiscard]] ExitCode diff(const Options& options, Reporter& reporter);

} // namespace oclcc
