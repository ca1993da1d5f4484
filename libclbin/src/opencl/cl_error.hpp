#pragma once

#include <CL/cl.h>

#include <string>

namespace clbin::opencl {

// "CL_INVALID_BINARY (-42)"; "unknown error (-9999)" for codes outside the specification.
[[nodiscard]] std::string cl_error_name(cl_int code);

} // namespace clbin::opencl
