// The table that --list-devices -v prints.
#pragma once

#include "opencl/driver.hpp"

#include <string>
#include <utility>
#include <vector>

namespace oclcc::worker {

// Returns labels and values in the order of output. Omits properties that the device does not
// support.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
query_device_properties(const clbin::opencl::Driver& driver, cl_device_id device);

} // namespace oclcc::worker
