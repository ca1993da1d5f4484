// Where launchers come from and go to.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle.hpp"
#include "terminal/reporter.hpp"

#include <string>
#include <vector>

namespace oclcc {

// Whether every input is a bundle, by its first bytes. Standard input never is.
[[nodiscard]] bool are_bundles(const std::vector<Input>& inputs);

// The header. Warns of each kernel that has no launcher.
[[nodiscard]] std::string launcher_text(const clbin::format::BundleInput& bundle,
                                        Reporter& reporter);

// Likewise, of what the manifests tell; no payload is read. The programs of several bundles stand
// side by side, what they tell of one program together. Reader errors, with the file.
[[nodiscard]] clbin::base::Result<std::string>
launchers_of_bundles(const std::vector<Input>& inputs, Reporter& reporter);

} // namespace oclcc
