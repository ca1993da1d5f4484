#pragma once

#include <CL/cl.h>

#include <string>

namespace clbin::opencl {

// Returns "CL_INVALID_BINARY (-42)", or "unknown error (-9999)" for a code outside the
// specification.
[[nodiscard]] std::string cl_error_name(cl_int code);

} // namespace clbin::opencl
