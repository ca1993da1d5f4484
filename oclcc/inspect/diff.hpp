// --diff: how the contents of two bundles differ.
#pragma once

#include "command_line/options.hpp"
#include "inspect/bundle_summary.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace oclcc {

// Something that one bundle has and another has not, or has otherwise.
struct Difference {
  std::string what{}; // "program", "variant", "source", "options", "entry", "binary", "kernel"
  std::string program{};
  std::string variant{};               // empty: of the program
  std::string target{};                // empty: of the variant
  std::string kernel{};                // empty: of the entry
  std::optional<std::string> before{}; // nothing: only the second bundle has it
  std::optional<std::string> after{};  // nothing: only the first bundle has it
};

// By program, variant, target. How payloads are compressed, build logs and tools make no
// difference.
[[nodiscard]] std::vector<Difference> differences(const BundleSummary& a, const BundleSummary& b);

// Shows them; k_bundles_differ where there is one. A damaged bundle is not compared.
[[nodiscard]] ExitCode diff(const Options& options, Reporter& reporter);

} // namespace oclcc
