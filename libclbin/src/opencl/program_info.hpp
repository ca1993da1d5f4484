// Queries of a program after its build.
#pragma once

#include "base/result.hpp"
#include "opencl/driver.hpp"

#include <string>
#include <vector>

namespace clbin::opencl {

// Returns CL_PROGRAM_KERNEL_NAMES (OpenCL 1.2) in the order of the driver, each name once: rusticl
// 22.3 lists the kernels of a program that is built a second time twice. opencl_call: the query
// failed.
[[nodiscard]] base::Result<std::vector<std::string>> program_kernel_names(const Driver& driver,
                                                                          cl_program program);

// Returns the distinct build logs of the devices, without null terminators and trailing white
// space. Empty if the driver returns none: a missing log is never an error.
[[nodiscard]] std::string build_log(const Driver& driver, cl_program program,
                                    const std::vector<cl_device_id>& devices);

// Returns both ends of `log`, separated by a line that states how many bytes are missing; about
// `max_bytes` in all. Keeps lines whole unless they are very long. The error that ended a build is
// at the end of its log, after any number of warnings.
[[nodiscard]] std::string both_ends(std::string log, std::size_t max_bytes);

} // namespace clbin::opencl
