// Random operands, the results that a kernel should compute, and the errors of its results.
// Expected values are computed in higher precision: in double for float kernels, in long double for
// double kernels.
#pragma once

#include "kernel_catalog.hpp"
#include "serial_cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runtime_demo {

struct Workload {
  std::vector<std::byte> left; // as the device receives them
  std::vector<std::byte> right;
  std::vector<double> expected;
  std::vector<double> magnitude; // the error of an element is relative to this
  SerialTime serial;
};

// Operands are uniform in [-1, 1). The same seed, task, precision and size produce the same
// operands.
[[nodiscard]] Workload make_workload(const KernelCase& kernel, const Size& size,
                                     std::uint64_t seed);

struct Comparison {
  std::size_t wrong = 0;    // elements that exceed the bound or are not numbers
  double largest_error = 0; // relative to magnitude; infinite if an element is not a number
  std::size_t first_wrong = 0;
  double first_got = 0;
  double first_expected = 0;
};

// Compares every element. Adds the partial sums of a dot product first.
[[nodiscard]] Comparison compare(const KernelCase& kernel, const Workload& workload,
                                 std::span<const std::byte> result, double allowed_error);

// Returns `elements` elements of a value that no kernel may leave behind: NaN.
[[nodiscard]] std::vector<std::byte> poison(Precision precision, std::size_t elements);

} // namespace runtime_demo
