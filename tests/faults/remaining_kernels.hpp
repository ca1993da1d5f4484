// The kernels of a program, except for those that a rule removes.
#pragma once

#include "faults/fault_scenario.hpp"

#include <string>
#include <vector>

namespace clbin::faults {

// Returns the names in the format of CL_PROGRAM_KERNEL_NAMES: "a;b".
[[nodiscard]] std::string remaining_kernel_names(cl_program program, const std::vector<Rule>& lost);

} // namespace clbin::faults
