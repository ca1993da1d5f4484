// Bundles made with the drivers of this machine, the way oclcc makes them but in this process.
#pragma once

#include "format/bundle/bundle.hpp"
#include "support/installed_devices.hpp"

#include <string>

namespace clbin::test {

// The source built for `installed` as an entry of variant "default"; a failed expectation and an
// entry without payload where the driver refuses.
[[nodiscard]] format::EntryInput build_entry(const InstalledDevice& installed,
                                             const opencl::Context& context,
                                             const format::SourcePackage& source,
                                             const std::string& options);

// PTX, with one kernel, that no platform but NVIDIA's may ever see: rusticl aborts the process on
// it (doc/drivers.md).
[[nodiscard]] format::EntryInput foreign_entry(const std::string& kernel);

} // namespace clbin::test
