// The fault-injecting layer (tests/faults/) in a test: the labels "opencl faults" of
// clbin_add_unit_test put it over every driver that the process meets.
#pragma once

#include <string>
#include <vector>

namespace clbin::test {

// The rules from here on (faults/fault_scenario.hpp tells how they look), in this process and in
// the children it starts. Calls are counted from 1 again; the log is emptied.
void set_faults(const std::string& scenario);

// What the layer saw since set_faults, in this process and in its children, without the process id:
// "clBuildProgram origin=binary device='…' -> passed code=0".
[[nodiscard]] std::vector<std::string> fault_log();

// The lines that hold every one of `parts`.
[[nodiscard]] std::vector<std::string> fault_log_lines(const std::vector<std::string>& parts);

} // namespace clbin::test
