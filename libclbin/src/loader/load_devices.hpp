// The devices of a load or build.
#pragma once

#include "loader/load_program.hpp"

#include <vector>

namespace clbin::loader {

// invalid_argument: there is no device, a device is not in the context, or one is listed twice.
// opencl_call: a query failed.
[[nodiscard]] base::Result<void> check_devices(const opencl::Driver& driver, cl_context context,
                                               const LoadRequest& request);

// Returns one identity for each device, and adds their descriptions to the report. opencl_call.
[[nodiscard]] base::Result<std::vector<format::DeviceIdentity>>
query_identities(const opencl::Driver& driver, const LoadRequest& request, LoadReport& report);

} // namespace clbin::loader
