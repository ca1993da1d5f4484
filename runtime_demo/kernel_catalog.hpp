// What is run: every kernel of kernels/, how it is called and how exact it has to be.
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

enum class Precision : std::uint8_t { single_precision, double_precision };

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
  single_group,      // as high as C has rows
  rows_exact,        // (l rounded up to 16, m), groups as high as a divisor of m
  result_16x16,      // (l, m) rounded up to 16
  result_16x16_rows, // (m, l) rounded up to 16
  result_8x8_rows,   // (m, l) rounded up to 8
  row_an_item,       // (m) rounded up to 64
  single_item,
  reduction,       // a bounded number of large groups
  element_an_item, // (m * n) rounded up to 64
  operand_16x16,   // (n, m) rounded up to 16
  register_blocks  // one group a tile
};

// The tile sizes of sgemm's variants, as kernels/sgemm.cl describes them.
struct Blocking {
  std::size_t tile_m = 0;
  std::size_t tile_n = 0;
  std::size_t tile_k = 0;
  std::size_t item_m = 0;
  std::size_t item_n = 0;
};

// The error allowed an element is (constant + per_root * sqrt(terms)) * unit roundoff, relative to
// the element's magnitude (for a product: the norm of its row times the norm of its column).
struct ErrorBound {
  double constant = 0;
  double per_root = 0;
};

enum class Series : std::uint8_t { none, blog_2009, lecture_2017, register_blocked };

struct KernelCase {
  std::string name; // what --kernel takes: the function, and "/variant" where it is not the default
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

// Every case, in the order in which they are run and listed.
[[nodiscard]] const std::vector<KernelCase>& kernel_catalog();

// The cases of that name or, for all variants at once, of that function.
[[nodiscard]] std::vector<const KernelCase*> find_kernels(std::string_view name);

struct LaunchShape {
  std::array<std::size_t, 2> global{};
  std::array<std::size_t, 2> local{};
};

// The error's message says why this size cannot be launched where a group has at most `max_items`.
[[nodiscard]] Result<LaunchShape> launch_shape(const KernelCase& kernel, const Size& size,
                                               std::size_t max_items);

[[nodiscard]] std::size_t element_bytes(Precision precision);
[[nodiscard]] std::size_t left_elements(const KernelCase& kernel, const Size& size);
[[nodiscard]] std::size_t right_elements(const KernelCase& kernel, const Size& size);
// What the kernel writes: for a dot product one element a group.
[[nodiscard]] std::size_t result_elements(const KernelCase& kernel, const Size& size,
                                          const LaunchShape& shape);

[[nodiscard]] double floating_point_operations(const KernelCase& kernel, const Size& size);
// Every operand read once, the result written once; 0 where that is not what limits the kernel.
[[nodiscard]] double bytes_moved(const KernelCase& kernel, const Size& size);
// How often the innermost loop runs in one work-item.
[[nodiscard]] double loop_iterations(const KernelCase& kernel, const Size& size,
                                     const LaunchShape& shape);
// Relative to an element's magnitude.
[[nodiscard]] double allowed_error(const KernelCase& kernel, const Size& size);
// "(8 + 2 sqrt(N)) 2^-24 of |row| |column|"
[[nodiscard]] std::string describe_bound(const KernelCase& kernel);

// command_line: an index or a number of elements that does not fit the kernels' ints, or memory
// beyond what size_t counts.
[[nodiscard]] Result<void> check_size(const KernelCase& kernel, const Size& size);

} // namespace runtime_demo
