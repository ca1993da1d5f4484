// Random operands, what a kernel has to make of them, and how far from it a result is. Expected
// values are computed in higher precision: in double for float kernels, in long double for double
// ones.
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
  std::vector<std::byte> left; // as the device gets them
  std::vector<std::byte> right;
  std::vector<double> expected;
  std::vector<double> magnitude; // what an element's error is relative to
  SerialTime serial;
};

// Operands are uniform in [-1, 1). The same seed, task, precision and size give the same operands.
[[nodiscard]] Workload make_workload(const KernelCase& kernel, const Size& size,
                                     std::uint64_t seed);

struct Comparison {
  std::size_t wrong = 0;    // elements beyond the bound, or not numbers
  double largest_error = 0; // relative to magnitude; infinite where an element is no number
  std::size_t first_wrong = 0;
  double first_got = 0;
  double first_expected = 0;
};

// Looks at every element. A dot product's partial sums are added first.
[[nodiscard]] Comparison compare(const KernelCase& kernel, const Workload& workload,
                                 std::span<const std::byte> result, double allowed_error);

// `elements` elements that no kernel may leave behind: NaN.
[[nodiscard]] std::vector<std::byte> poison(Precision precision, std::size_t elements);

} // namespace runtime_demo
