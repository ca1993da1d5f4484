// Creates launchers from new or existing bundles.
#pragma once

#include "command_line/options.hpp"
#include "input/bundle_keys.hpp"
#include "model/bundle.hpp"
#include "terminal/reporter.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace oclcc {

// Whether every input is a bundle, by its first bytes. False for standard input.
[[nodiscard]] bool are_bundles(const std::vector<Input>& inputs);

// Returns the header. Warns about each kernel without a launcher. limit_exceeded: more than
// `max_bytes`.
[[nodiscard]] clbin::base::Result<std::string>
launcher_text(const clbin::format::BundleInput& bundle, std::uint64_t max_bytes,
              Reporter& reporter);

// Returns the header for existing bundles. Reads manifests, but no payload. Lists the programs of
// several bundles, and combines the information about the same program. The manifests of all
// bundles are limited together, and the header to 16 MiB plus 4 bytes for each byte of the bundles.
// Reader errors, with the file name.
[[nodiscard]] clbin::base::Result<std::string>
launchers_of_bundles(const std::vector<Input>& inputs, const BundleKeys& keys, Reporter& reporter);

} // namespace oclcc
