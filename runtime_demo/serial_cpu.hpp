// The serial CPU with which kernels are compared: plain loops in the precision of the kernel, on
// one thread. serial_cpu.cpp is always compiled with -O2.
#pragma once

#include "kernel_catalog.hpp"

#include <cstddef>
#include <span>

namespace runtime_demo {

struct SerialTime {
  double seconds = 0;  // for the whole task
  double measured = 1; // the fraction that was run; the rest is extrapolated
};

// Runs the task to its end, repeatedly if it is too short to be timed. A product ends after about a
// second.
[[nodiscard]] SerialTime time_serially(const KernelCase& kernel, const Size& size,
                                       std::span<const std::byte> left,
                                       std::span<const std::byte> right);

} // namespace runtime_demo
