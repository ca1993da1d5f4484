// The whole table that --list-devices -v prints.
#pragma once

#include "opencl/driver.hpp"

#include <string>
#include <utility>
#include <vector>

namespace oclcc::worker {

// Labels and values in the order to print. What the device does not know is left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
query_device_properties(const clbin::opencl::Driver& driver, cl_device_id device);

} // namespace oclcc::worker
