#include "kernel_catalog.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace runtime_demo {

namespace {

using enum Argument;

constexpr ErrorBound k_sum_bound{8, 2};
constexpr ErrorBound k_one_rounding{1, 0};
constexpr ErrorBound k_exact{0, 0};
constexpr Size k_blog_size{1024, 1024, 1024};
constexpr std::size_t k_reduction_items = 1024;
constexpr std::size_t k_reduction_groups = 256;

KernelCase blog_kernel(const std::string& function, LaunchRule launch, Size size,
                       std::string source) {
  return {.name = function,
          .function = function,
          .program = "matmul",
          .variant = "default",
          .arguments = {result, left, right, n, l},
          .launch = launch,
          .source_size = size,
          .bound = k_sum_bound,
          .source = "2009 blog, Matrix Multiplication " + std::move(source),
          .series = Series::blog_2009,
          .blocking = {}};
}

KernelCase case_study_kernel(const std::string& function, LaunchRule launch, std::string source) {
  return {.name = function,
          .function = function,
          .program = "matmul_column_major",
          .variant = "default",
          .task = Task::column_major_product,
          .arguments = {result, left, right, sizes},
          .launch = launch,
          .source_size = {512, 512, 512},
          .bound = k_sum_bound,
          .source = "case study, " + std::move(source),
          .blocking = {}};
}

KernelCase lecture_kernel(const std::string& function, LaunchRule launch, std::string source,
                          const std::vector<Argument>& further_arguments = {}) {
  std::vector<Argument> arguments{l, m, n, left, right, result};
  arguments.insert(arguments.end(), further_arguments.begin(), further_arguments.end());
  return {.name = function,
          .function = function,
          .program = "matmul_steps",
          .variant = "default",
          .arguments = std::move(arguments),
          .launch = launch,
          .source_size = k_blog_size,
          .bound = k_sum_bound,
          .source = "2017 lecture, " + std::move(source),
          .series = Series::lecture_2017,
          .blocking = {}};
}

KernelCase double_kernel(const std::string& function, std::string source) {
  return {.name = function,
          .function = function,
          .program = "cuda_ports",
          .variant = "default",
          .precision = Precision::double_precision,
          .arguments = {left, right, result, m, n, l},
          .launch = LaunchRule::result_16x16,
          .source_size = {64, 62, 64},
          .bound = k_sum_bound,
          .source = "CUDA lecture, " + std::move(source),
          .blocking = {}};
}

KernelCase vector_kernel(const std::string& function, std::string program, Task task,
                         std::vector<Argument> arguments, LaunchRule launch, std::size_t count,
                         ErrorBound bound, std::string source) {
  return {.name = function,
          .function = function,
          .program = std::move(program),
          .variant = "default",
          .task = task,
          .arguments = std::move(arguments),
          .launch = launch,
          .source_size = {count, 1, 1},
          .bound = bound,
          .source = std::move(source),
          .blocking = {}};
}

KernelCase transposition(const std::string& function, std::string source) {
  return {.name = function,
          .function = function,
          .program = "transpose",
          .variant = "default",
          .task = Task::transpose,
          .arguments = {result, left, n, m},
          .launch = LaunchRule::operand_16x16,
          .source_size = {256, 4096, 1},
          .bound = k_exact,
          .source = "course notes, " + std::move(source),
          .blocking = {}};
}

// The name of a variant lists its options. Tests compare it with the bundle.
KernelCase register_blocked(std::string variant, Blocking blocking) {
  const std::string name = variant == "default" ? "sgemm" : "sgemm/" + variant;
  return {.name = name,
          .function = "sgemm",
          .program = "sgemm",
          .variant = std::move(variant),
          .arguments = {m, n, l, left, right, result},
          .launch = LaunchRule::register_blocks,
          .source_size = k_blog_size,
          .bound = k_sum_bound,
          .source = fmt::format("ours, tile {}x{}x{}, {}x{} an item", blocking.tile_m,
                                blocking.tile_n, blocking.tile_k, blocking.item_m, blocking.item_n),
          .series = Series::register_blocked,
          .blocking = blocking};
}

// On NVIDIA's GPUs, 32 items have 64 x 64 sums: 16 x 8 each.
KernelCase matrix_units(const std::string& function, Precision precision, std::size_t tile_k,
                        const std::string& operands) {
  return {.name = function,
          .function = function,
          .program = function,
          .variant = "default",
          .precision = precision,
          .arguments = {m, n, l, left, right, result},
          .launch = LaunchRule::register_blocks,
          .source_size = k_blog_size,
          .bound = k_sum_bound,
          .source = "ours, " + operands + ", matrix units",
          .blocking = {128, 128, tile_k, 16, 8}};
}

std::vector<KernelCase> make_catalog() {
  return {
      blog_kernel("matrixMul_local_ids", LaunchRule::single_group, {3, 3, 3}, "1"),
      blog_kernel("matrixMul_global_ids", LaunchRule::rows_exact, k_blog_size, "2"),
      blog_kernel("matrixMul_tiled", LaunchRule::rows_exact, k_blog_size, "3"),
      double_kernel("matMul", "double product, naive"),
      double_kernel("matMul_tiled", "double product, tiled"),
      vector_kernel("dotProduct", "cuda_ports", Task::dot_product, {left, right, result, count},
                    LaunchRule::single_item, 10'000, k_sum_bound,
                    "CUDA lecture, dot product by one thread"),
      vector_kernel("dotProduct_tiled", "cuda_ports", Task::dot_product,
                    {left, right, result, count}, LaunchRule::reduction, 10'000, k_sum_bound,
                    "CUDA lecture, dot product, tiled"),
      case_study_kernel("floatMatrixMult", LaunchRule::result_16x16_rows, "one item an element"),
      case_study_kernel("floatMatrixMultLocals", LaunchRule::result_8x8_rows, "8x8 tiles, float4"),
      vector_kernel("mul", "elementwise", Task::multiply, {left, right, result, count},
                    LaunchRule::element_an_item, 1024, k_one_rounding, "2017 lecture, mul"),
      vector_kernel("vadd", "elementwise", Task::add, {left, right, result, count},
                    LaunchRule::element_an_item, 1024, k_one_rounding, "2017 lecture, vadd"),
      lecture_kernel("mat_mul", LaunchRule::result_16x16_rows, "C(i,j) an item, all global"),
      lecture_kernel("mat_mul_private", LaunchRule::result_16x16_rows,
                     "C(i,j) an item, private sum"),
      lecture_kernel("mmul_row", LaunchRule::row_an_item, "C row an item, all global"),
      lecture_kernel("mmul_row_private", LaunchRule::row_an_item, "C row an item, A row private"),
      lecture_kernel("mmul_row_private_column_local", LaunchRule::row_an_item,
                     "C row an item, A private, B local", {local_row}),
      lecture_kernel("mmul_block", LaunchRule::result_16x16, "block-oriented using local",
                     {local_block, local_block}),
      transposition("transpose_naive", "naive"),
      transposition("transpose", "16x17 tile in local memory"),
      register_blocked("default", {128, 128, 16, 8, 8}),
      register_blocked("tile128x256x8_item8x16", {128, 256, 8, 8, 16}),
      register_blocked("tile128x256x8_item16x8", {128, 256, 8, 16, 8}),
      register_blocked("tile128x64x16_item8x4", {128, 64, 16, 8, 4}),
      register_blocked("tile64x64x16_item4x4", {64, 64, 16, 4, 4}),
      register_blocked("tile64x64x16_item8x8", {64, 64, 16, 8, 8}),
      matrix_units("hgemm", Precision::half_operands, 32, "half precision"),
      matrix_units("tf32gemm", Precision::tf32_operands, 16, "tf32"),
  };
}

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

LaunchShape rounded(std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  return {{round_up(x, width), round_up(y, height)}, {width, height}};
}

Result<LaunchShape> single_group_shape(const Size& size, std::size_t max_items) {
  if (size.m > max_items) {
    return failure(ExitCode::command_line,
                   fmt::format("one work-group computes all {} rows, the device allows {} items",
                               size.m, max_items));
  }
  const std::size_t width = std::max<std::size_t>(1, std::min(size.l, max_items / size.m));
  return LaunchShape{{width, size.m}, {width, size.m}};
}

LaunchShape rows_exact_shape(const Size& size) {
  std::size_t height = 16;
  while (size.m % height != 0) {
    --height;
  }
  return {{round_up(size.l, 16), size.m}, {16, height}};
}

LaunchShape reduction_shape(const Size& size, std::size_t max_items) {
  const std::size_t items = std::min(k_reduction_items, max_items);
  const std::size_t groups = (size.m * size.n + items - 1) / items;
  return {{std::min(groups, k_reduction_groups) * items, 1}, {items, 1}};
}

LaunchShape register_blocks_shape(const Blocking& blocking, const Size& size) {
  const std::size_t items = blocking.tile_m / blocking.item_m * (blocking.tile_n / blocking.item_n);
  const std::size_t across = (size.l + blocking.tile_n - 1) / blocking.tile_n;
  const std::size_t down = (size.m + blocking.tile_m - 1) / blocking.tile_m;
  return {{across * items, down}, {items, 1}};
}

Result<LaunchShape> unchecked_shape(const KernelCase& kernel, const Size& size,
                                    std::size_t max_items) {
  switch (kernel.launch) {
  case LaunchRule::single_group:
    return single_group_shape(size, max_items);
  case LaunchRule::rows_exact:
    return rows_exact_shape(size);
  case LaunchRule::result_16x16:
    return rounded(size.l, size.m, 16, 16);
  case LaunchRule::result_16x16_rows:
    return rounded(size.m, size.l, 16, 16);
  case LaunchRule::result_8x8_rows:
    return rounded(size.m, size.l, 8, 8);
  case LaunchRule::row_an_item:
    return rounded(size.m, 1, 64, 1);
  case LaunchRule::single_item:
    return LaunchShape{{1, 1}, {1, 1}};
  case LaunchRule::reduction:
    return reduction_shape(size, max_items);
  case LaunchRule::element_an_item:
    return rounded(size.m * size.n, 1, 64, 1);
  case LaunchRule::operand_16x16:
    return rounded(size.n, size.m, 16, 16);
  case LaunchRule::register_blocks:
    break;
  }
  return register_blocks_shape(kernel.blocking, size);
}

bool is_product(const KernelCase& kernel) {
  return kernel.task == Task::product || kernel.task == Task::column_major_product;
}

bool product_exceeds(std::size_t a, std::size_t b, std::size_t limit) {
  return b != 0 && a > limit / b;
}

} // namespace

std::string to_string(const Size& size) {
  return fmt::format("{}x{}x{}", size.m, size.n, size.l);
}

const std::vector<KernelCase>& kernel_catalog() {
  static const std::vector<KernelCase> catalog = make_catalog();
  return catalog;
}

std::vector<const KernelCase*> find_kernels(std::string_view name) {
  std::vector<const KernelCase*> named;
  std::vector<const KernelCase*> variants;
  for (const KernelCase& kernel : kernel_catalog()) {
    if (kernel.name == name) {
      named.push_back(&kernel);
    }
    if (kernel.function == name) {
      variants.push_back(&kernel);
    }
  }
  return variants.empty() ? named : variants;
}

Result<LaunchShape> launch_shape(const KernelCase& kernel, const Size& size,
                                 std::size_t max_items) {
  Result<LaunchShape> shape = unchecked_shape(kernel, size, max_items);
  if (!shape) {
    return shape;
  }
  const std::size_t items = shape->local[0] * shape->local[1];
  if (items > max_items) {
    return failure(
        ExitCode::command_line,
        fmt::format("needs a work-group of {} items, the device allows {}", items, max_items));
  }
  return shape;
}

std::size_t element_bytes(Precision precision) {
  return precision == Precision::double_precision ? sizeof(double) : sizeof(float);
}

std::size_t operand_bytes(Precision precision) {
  return precision == Precision::half_operands ? sizeof(std::uint16_t) : element_bytes(precision);
}

std::size_t left_elements(const KernelCase&, const Size& size) {
  return size.m * size.n;
}

std::size_t right_elements(const KernelCase& kernel, const Size& size) {
  if (kernel.task == Task::transpose) {
    return 0;
  }
  return is_product(kernel) ? size.n * size.l : size.m * size.n;
}

std::size_t result_elements(const KernelCase& kernel, const Size& size, const LaunchShape& shape) {
  if (kernel.task == Task::dot_product) {
    return shape.global[0] / shape.local[0];
  }
  return is_product(kernel) ? size.m * size.l : size.m * size.n;
}

double floating_point_operations(const KernelCase& kernel, const Size& size) {
  const double elements = static_cast<double>(size.m) * static_cast<double>(size.n);
  switch (kernel.task) {
  case Task::product:
  case Task::column_major_product:
    return 2 * elements * static_cast<double>(size.l);
  case Task::dot_product:
    return 2 * elements;
  case Task::multiply:
  case Task::add:
    return elements;
  case Task::transpose:
    break;
  }
  return 0;
}

double bytes_moved(const KernelCase& kernel, const Size& size) {
  if (is_product(kernel)) {
    return 0;
  }
  const double operand = static_cast<double>(size.m) * static_cast<double>(size.n) *
                         static_cast<double>(operand_bytes(kernel.precision));
  const bool two_operands = kernel.task == Task::transpose || kernel.task == Task::dot_product;
  return operand * (two_operands ? 2 : 3);
}

double allowed_error(const KernelCase& kernel, const Size& size) {
  const double roundoff = kernel.precision == Precision::double_precision ? 0x1p-53 : 0x1p-24;
  const std::size_t terms = is_product(kernel) ? size.n : size.m * size.n;
  return (kernel.bound.constant + kernel.bound.per_root * std::sqrt(static_cast<double>(terms))) *
         roundoff;
}

double loop_iterations(const KernelCase& kernel, const Size& size, const LaunchShape& shape) {
  const auto elements = static_cast<double>(size.m * size.n);
  switch (kernel.launch) {
  case LaunchRule::single_group:
  case LaunchRule::row_an_item: {
    const std::size_t columns = kernel.launch == LaunchRule::row_an_item
                                    ? size.l
                                    : (size.l + shape.local[0] - 1) / shape.local[0];
    return static_cast<double>(columns) * static_cast<double>(size.n);
  }
  case LaunchRule::single_item:
    return elements;
  case LaunchRule::reduction:
    return elements / static_cast<double>(shape.global[0]);
  case LaunchRule::element_an_item:
  case LaunchRule::operand_16x16:
    return 1;
  default:
    return static_cast<double>(size.n);
  }
}

std::string describe_bound(const KernelCase& kernel) {
  if (kernel.bound.constant == 0) {
    return "exact";
  }
  const std::string_view roundoff =
      kernel.precision == Precision::double_precision ? "2^-53" : "2^-24";
  if (kernel.bound.per_root == 0) {
    return fmt::format("{} {} of |a| + |b|", kernel.bound.constant, roundoff);
  }
  return fmt::format("({} + {} sqrt(terms)) {} of |row| |column|", kernel.bound.constant,
                     kernel.bound.per_root, roundoff);
}

Result<void> check_size(const KernelCase& kernel, const Size& size) {
  constexpr auto k_int_max = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  // Ensures that sizes in bytes and sizes rounded up to a group stay far below the limit of size_t.
  constexpr std::size_t k_elements_max = std::numeric_limits<std::size_t>::max() / 1024;
  const auto refuse = [&](std::string_view why) {
    return failure(ExitCode::command_line, fmt::format("size {} is too large for {}: {}",
                                                       to_string(size), kernel.name, why));
  };
  if (std::max({size.m, size.n, size.l}) > k_int_max - 1024) {
    return refuse("its sizes are 32-bit ints");
  }
  if (!is_product(kernel) && product_exceeds(size.m, size.n, k_int_max - 1024)) {
    return refuse("its number of elements is a 32-bit int");
  }
  if (product_exceeds(size.m, size.n, k_elements_max) ||
      product_exceeds(size.n, size.l, k_elements_max) ||
      product_exceeds(size.m, size.l, k_elements_max)) {
    return refuse("its matrices do not fit the address space");
  }
  return {};
}

} // namespace runtime_demo
