// Creates launchers from new or existing bundles.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle.hpp"
#include "terminal/reporter.hpp"

#include <string>
#include <vector>

namespace oclcc {

// Whether every input is a bundle, by its first bytes. False for standard input.
[[nodiscard]] bool are_bundles(const std::vector<Input>& inputs);

// Returns the header. Warns about each kernel without a launcher.
[[nodiscard]] std::string launcher_text(const clbin::format::BundleInput& bundle,
                                        Reporter& reporter);

// Returns the header for existing bundles. Reads manifests, but no payload. Lists the programs of
// several bundles, and combines the information about the same program. Reader errors, with the
// file name.
[[nodiscard]] clbin::base::Result<std::string>
launchers_of_bundles(const std::vector<Input>& inputs, Reporter& reporter);

} // namespace oclcc
