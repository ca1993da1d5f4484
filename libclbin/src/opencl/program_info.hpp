// What a program tells of itself once it is built.
#pragma once

#include "base/result.hpp"
#include "opencl/driver.hpp"

#include <string>
#include <vector>

namespace clbin::opencl {

// CL_PROGRAM_KERNEL_NAMES (OpenCL 1.2), in the driver's order. opencl_call.
[[nodiscard]] base::Result<std::vector<std::string>> program_kernel_names(const Driver& driver,
                                                                          cl_program program);

// The build logs of the devices, each distinct one once, without the closing NUL and white space.
// Empty where the driver has none to give: a log is never worth a failure.
[[nodiscard]] std::string build_log(const Driver& driver, cl_program program,
                                    const std::vector<cl_device_id>& devices);

// Returns both ends of `log`, in whole lines unless these are very long, with a line between them
// that states how many bytes are missing; about `max_bytes` in all. The error that ended a build is
// at the end of its log, behind any number of warnings.
[[nodiscard]] std::string both_ends(std::string log, std::size_t max_bytes);

} // namespace clbin::opencl
