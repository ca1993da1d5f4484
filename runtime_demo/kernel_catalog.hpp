// The kernels of kernels/: how each one is called, and how accurate it must be.
#pragma once

#include "result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runtime_demo {

// A product is (m x n) * (n x l). Vectors have m * n elements; a transposed matrix is m x n.
struct Size {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t l = 0;
  [[nodiscard]] bool operator==(const Size&) const = default;
  [[nodiscard]] auto operator<=>(const Size&) const = default;
};

[[nodiscard]] std::string to_string(const Size& size);

enum class Task : std::uint8_t {
  product,
  column_major_product,
  dot_product,
  multiply,
  add,
  transpose
};

// The result of half and tf32 operands is in single precision. tf32 operands are floats, here with
// no more digits than half has, so that rounding them to tf32 changes none.
enum class Precision : std::uint8_t {
  single_precision,
  double_precision,
  half_operands,
  tf32_operands
};

enum class Argument : std::uint8_t {
  result,
  left,
  right,
  m,
  n,
  l,
  count,      // m * n
  sizes,      // m, n, l as three ints in global memory
  local_row,  // local memory for min(n, 1024) floats
  local_block // local memory for 16 * 16 floats
};

enum class LaunchRule : std::uint8_t {
  single_group,      // its height is the number of rows of C
  rows_exact,        // (l rounded up to 16, m); the height of a group divides m
  result_16x16,      // (l, m) rounded up to 16
  result_16x16_rows, // (m, l) rounded up to 16
  result_8x8_rows,   // (m, l) rounded up to 8
  row_an_item,       // (m) rounded up to 64
  single_item,
  reduction,       // a bounded number of large groups
  element_an_item, // (m * n) rounded up to 64
  operand_16x16,   // (n, m) rounded up to 16
  register_blocks  // one group per tile, of the size that the kernel requires
};

// The tile sizes of the sgemm variants, as described in kernels/sgemm.cl, and of hgemm and
// tf32gemm.
struct Blocking {
  std::size_t tile_m = 0;
  std::size_t tile_n = 0;
  std::size_t tile_k = 0;
  std::size_t item_m = 0;
  std::size_t item_n = 0;
};

// The allowed error of an element is (constant + per_root * sqrt(terms)) * unit roundoff, relative
// to the magnitude of the element (for a product: the norm of its row times the norm of its
// column).
struct ErrorBound {
  double constant = 0;
  double per_root = 0;
};

enum class Series : std::uint8_t { none, blog_2009, lecture_2017, register_blocked };

struct KernelCase {
  std::string name; // the value of --kernel: the function, and "/variant" unless it is the default
  std::string function;
  std::string program;
  std::string variant;
  Task task = Task::product;
  Precision precision = Precision::single_precision;
  std::vector<Argument> arguments;
  LaunchRule launch = LaunchRule::result_16x16;
  Size source_size;
  ErrorBound bound;
  std::string source;
  Series series = Series::none;
  Blocking blocking;
};

// Returns every case, in the order in which they are run and listed.
[[nodiscard]] const std::vector<KernelCase>& kernel_catalog();

// Returns the cases with that name or, for all variants at once, with that function.
[[nodiscard]] std::vector<const KernelCase*> find_kernels(std::string_view name);

struct LaunchShape {
  std::array<std::size_t, 2> global{};
  std::array<std::size_t, 2> local{};
};

// Returns the launch shape for groups of at most `max_items`. If the size cannot be launched, the
// error message states why.
[[nodiscard]] Result<LaunchShape> launch_shape(const KernelCase& kernel, const Size& size,
                                               std::size_t max_items);

[[nodiscard]] std::size_t element_bytes(Precision precision); // of the result
[[nodiscard]] std::size_t operand_bytes(Precision precision);
[[nodiscard]] std::size_t left_elements(const KernelCase& kernel, const Size& size);
[[nodiscard]] std::size_t right_elements(const KernelCase& kernel, const Size& size);
// Returns the number of elements that the kernel writes: for a dot product, one per group.
[[nodiscard]] std::size_t result_elements(const KernelCase& kernel, const Size& size,
                                          const LaunchShape& shape);

[[nodiscard]] double floating_point_operations(const KernelCase& kernel, const Size& size);
// Returns the bytes for reading every operand once and writing the result once; 0 if they do not
// limit the speed of the kernel.
[[nodiscard]] double bytes_moved(const KernelCase& kernel, const Size& size);
// Returns how often the innermost loop runs in one work-item.
[[nodiscard]] double loop_iterations(const KernelCase& kernel, const Size& size,
                                     const LaunchShape& shape);
// Returns the allowed error relative to the magnitude of an element.
[[nodiscard]] double allowed_error(const KernelCase& kernel, const Size& size);
// Returns "(8 + 2 sqrt(N)) 2^-24 of |row| |column|".
[[nodiscard]] std::string describe_bound(const KernelCase& kernel);

// command_line: an index or a number of elements exceeds the int of the kernels, or an amount of
// memory exceeds size_t.
[[nodiscard]] Result<void> check_size(const KernelCase& kernel, const Size& size);

} // namespace runtime_demo
