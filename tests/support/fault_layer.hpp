// Uses the fault-injecting layer (tests/faults/) in a test. The labels "opencl faults" of
// clbin_add_unit_test put it over every driver that the process starts.
#pragma once

#include <string>
#include <vector>

namespace clbin::test {

// Sets the rules (faults/fault_scenario.hpp) for this process and the children that it starts.
// Restarts the count of calls at 1, and empties the log.
void set_faults(const std::string& scenario);

// Returns the calls that the layer logged since set_faults, in this process and its children,
// without process ids: "clBuildProgram origin=binary device='…' -> passed code=0".
[[nodiscard]] std::vector<std::string> fault_log();

// Returns the lines that contain all of `parts`.
[[nodiscard]] std::vector<std::string> fault_log_lines(const std::vector<std::string>& parts);

} // namespace clbin::test
