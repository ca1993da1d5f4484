// Which local work-group size a driver chooses.
#pragma once

#include <CL/cl_icd.h>

#include <array>
#include <cstddef>
#include <optional>

namespace clbin::layer {

using LocalSize = std::array<std::size_t, 3>;

// What PoCL's choice depends on, as its device reports it. Variables such as
// POCL_MAX_WORK_GROUP_SIZE and POCL_MAX_PTHREAD_COUNT change these limits, and nothing else.
struct PoclLimits {
  LocalSize most_items{};             // CL_DEVICE_MAX_WORK_ITEM_SIZES
  std::size_t largest_group = 0;      // CL_KERNEL_WORK_GROUP_SIZE
  std::size_t preferred_multiple = 0; // CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
  std::size_t compute_units = 0;      // of the parent of a sub-device
};

// Follows pocl_default_local_size_optimizer, which PoCL's CPU devices use: the file
// lib/CL/devices/pocl_local_size.c of PoCL 3.1, whose rule is the same up to 7.1. `global` has 1
// for a missing dimension. std::nullopt if PoCL has no choice: a number is 0, or the preferred
// multiple does not fit into a work-group.
[[nodiscard]] std::optional<LocalSize> pocl_local_size(const PoclLimits& limits,
                                                       const LocalSize& global) noexcept;

// A launch with a local size of NULL. Borrows from a call that the driver has accepted.
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
