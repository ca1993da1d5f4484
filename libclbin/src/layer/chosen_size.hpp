// Which local work-group size a driver chooses.
#pragma once

#include "layer/pocl_local_size.hpp"

#include <CL/cl_icd.h>

#include <optional>

namespace clbin::layer {

// A launch with a local size of NULL. Borrowed from the application's call, which the driver has
// accepted.
struct UnsizedLaunch {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 0;
  const std::size_t* offset = nullptr;
  const std::size_t* global = nullptr;
};

// Returns what the driver chooses, 1 for a missing dimension: what
// clGetKernelSuggestedLocalWorkSizeKHR returns if the device has that extension; otherwise, on a
// CPU of PoCL, pocl_local_size(). std::nullopt if it cannot be known. Thread-safe.
[[nodiscard]] std::optional<LocalSize> chosen_local_size(const cl_icd_dispatch& next,
                                                         const UnsizedLaunch& launch);

} // namespace clbin::layer
