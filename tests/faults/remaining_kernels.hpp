// The kernels of a program but for those that a rule has lost.
#pragma once

#include "faults/fault_scenario.hpp"

#include <string>
#include <vector>

namespace clbin::faults {

// As CL_PROGRAM_KERNEL_NAMES has them: "a;b".
[[nodiscard]] std::string remaining_kernel_names(cl_program program, const std::vector<Rule>& lost);

} // namespace clbin::faults
