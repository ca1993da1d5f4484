// The serial CPU that kernels are compared with: the plain loops, in the kernel's own precision,
// one thread. serial_cpu.cpp is compiled with -O2 whatever the rest is compiled with.
#pragma once

#include "kernel_catalog.hpp"

#include <cstddef>
#include <span>

namespace runtime_demo {

struct SerialTime {
  double seconds = 0;  // of the whole task
  double measured = 1; // the part of it that was run; the rest is extrapolated
};

// Runs the task until it is done (again and again where it is too short to be timed) or, for a
// product, until about a second has passed.
[[nodiscard]] SerialTime time_serially(const KernelCase& kernel, const Size& size,
                                       std::span<const std::byte> left,
                                       std::span<const std::byte> right);

} // namespace runtime_demo
