// Bundles made with the drivers of this machine, the way oclcc makes them but in this process.
#pragma once

#include "format/bundle.hpp"
#include "support/installed_devices.hpp"

#include <string>

namespace clbin::test {

// The source built for `installed` as an entry of variant "default"; a failed expectation and an
// entry without payload where the driver refuses.
[[nodiscard]] format::EntryInput build_entry(const InstalledDevice& installed,
                                             const opencl::Context& context,
                                             const format::SourcePackage& source,
                                             const std::string& options);

} // namespace clbin::test
