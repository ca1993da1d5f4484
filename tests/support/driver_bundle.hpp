// Makes bundles with the drivers of this machine, like oclcc but in this process.
#pragma once

#include "model/bundle.hpp"
#include "support/installed_devices.hpp"

#include <string>

namespace clbin::test {

// Builds the source for `installed` as an entry of variant "default". If the driver rejects it,
// records a failed expectation and returns an entry without payload.
[[nodiscard]] format::EntryInput build_entry(const InstalledDevice& installed,
                                             const opencl::Context& context,
                                             const format::SourcePackage& source,
                                             const std::string& options);

// PTX with one kernel. Only NVIDIA's platform may see it, because rusticl aborts the process on it
// (doc/drivers.md).
[[nodiscard]] format::EntryInput foreign_entry(const std::string& kernel);

} // namespace clbin::test
