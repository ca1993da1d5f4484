#include "reference_products.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

namespace runtime_demo {

namespace {

template <class T>
std::vector<T> random_values(std::mt19937_64& engine, std::size_t count) {
  std::uniform_real_distribution<T> distribution(T{-1}, T{1});
  std::vector<T> values(count);
  std::generate(values.begin(), values.end(), [&] { return distribution(engine); });
  return values;
}

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

// Rounds to half precision; subnormal numbers become zero.
std::uint16_t to_half(float value) {
  constexpr int k_dropped_bits = 13;
  constexpr std::uint32_t k_other_bias = 112U << 23U;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = (bits & 0x7fffffffU) + (1U << (k_dropped_bits - 1));
  const std::uint32_t number =
      magnitude < k_other_bias + (1U << 23U) ? 0 : magnitude - k_other_bias;
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | number >> k_dropped_bits);
}

float from_half(std::uint16_t half) {
  const std::uint32_t number = (half & 0x7fffU) << 13U;
  const std::uint32_t magnitude = number == 0 ? 0 : number + (112U << 23U);
  return std::bit_cast<float>((half & 0x8000U) << 16U | magnitude);
}

// Rounds the values, and returns their halves.
std::vector<std::byte> round_to_half(std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  std::ranges::transform(values, halves.begin(), to_half);
  std::ranges::transform(halves, values.begin(), from_half);
  return to_bytes(halves);
}

template <class Work>
void for_each_part(std::size_t count, const Work& work) {
  const std::size_t parts = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                    std::max<std::size_t>(count, 1));
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < parts; ++part) {
    threads.emplace_back(
        [&work, part, parts, count] { work(part * count / parts, (part + 1) * count / parts); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Multiplies row-major matrices in the higher precision `Wide`. Adds rows of b to rows of c, so
// that both are read sequentially.
template <class Wide, class T>
void multiply_rows(const std::vector<T>& a, const std::vector<T>& b, std::vector<double>& c,
                   const Size& size, std::size_t first, std::size_t last) {
  std::vector<Wide> sums(size.l);
  for (std::size_t i = first; i < last; ++i) {
    std::fill(sums.begin(), sums.end(), Wide{0});
    for (std::size_t k = 0; k < size.n; ++k) {
      const Wide factor = a[i * size.n + k];
      const T* row = b.data() + k * size.l;
      for (std::size_t j = 0; j < size.l; ++j) {
        sums[j] += factor * Wide{row[j]};
      }
    }
    std::transform(sums.begin(), sums.end(), c.begin() + static_cast<std::ptrdiff_t>(i * size.l),
                   [](Wide sum) { return static_cast<double>(sum); });
  }
}

template <class T>
std::vector<double> row_norms(const std::vector<T>& a, std::size_t rows, std::size_t columns) {
  std::vector<double> norms(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      norms[i] += static_cast<double>(a[i * columns + j]) * static_cast<double>(a[i * columns + j]);
    }
    norms[i] = std::sqrt(norms[i]);
  }
  return norms;
}

template <class T>
std::vector<double> column_norms(const std::vector<T>& a, std::size_t rows, std::size_t columns) {
  std::vector<double> norms(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      norms[j] += static_cast<double>(a[i * columns + j]) * static_cast<double>(a[i * columns + j]);
    }
  }
  for (double& norm : norms) {
    norm = std::sqrt(norm);
  }
  return norms;
}

template <class Wide, class T>
void expect_product(Workload& workload, const std::vector<T>& a, const std::vector<T>& b,
                    const Size& size) {
  workload.expected.resize(size.m * size.l);
  workload.magnitude.resize(size.m * size.l);
  for_each_part(size.m, [&](std::size_t first, std::size_t last) {
    multiply_rows<Wide>(a, b, workload.expected, size, first, last);
  });
  const std::vector<double> rows = row_norms(a, size.m, size.n);
  const std::vector<double> columns = column_norms(b, size.n, size.l);
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.l; ++j) {
      workload.magnitude[i * size.l + j] = rows[i] * columns[j];
    }
  }
}

template <class Wide, class T>
void expect_dot(Workload& workload, const std::vector<T>& a, const std::vector<T>& b) {
  Wide sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += Wide{a[i]} * Wide{b[i]};
  }
  workload.expected = {static_cast<double>(sum)};
  workload.magnitude = {row_norms(a, 1, a.size())[0] * row_norms(b, 1, b.size())[0]};
}

template <class T>
void expect_elementwise(Workload& workload, Task task, const std::vector<T>& a,
                        const std::vector<T>& b) {
  workload.expected.resize(a.size());
  workload.magnitude.resize(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double left = static_cast<double>(a[i]);
    const double right = static_cast<double>(b[i]);
    workload.expected[i] = task == Task::add ? left + right : left * right;
    workload.magnitude[i] =
        task == Task::add ? std::abs(left) + std::abs(right) : std::abs(workload.expected[i]);
  }
}

template <class T>
void expect_transposed(Workload& workload, const std::vector<T>& a, const Size& size) {
  workload.expected.resize(a.size());
  workload.magnitude.assign(a.size(), 1);
  for (std::size_t i = 0; i < size.m; ++i) {
    for (std::size_t j = 0; j < size.n; ++j) {
      workload.expected[j * size.m + i] = static_cast<double>(a[i * size.n + j]);
    }
  }
}

template <class Wide, class T>
Workload make_typed(const KernelCase& kernel, const Size& size, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> a = random_values<T>(engine, left_elements(kernel, size));
  std::vector<T> b = random_values<T>(engine, right_elements(kernel, size));
  Workload workload;
  if constexpr (std::is_same_v<T, float>) {
    if (kernel.precision == Precision::half_operands ||
        kernel.precision == Precision::tf32_operands) {
      workload.left = round_to_half(a);
      workload.right = round_to_half(b);
    }
  }
  switch (kernel.task) {
  case Task::product:
    expect_product<Wide>(workload, a, b, size);
    break;
  case Task::column_major_product:
    // Read as row-major, each matrix is its transpose, and C' = B' * A'.
    expect_product<Wide>(workload, b, a, {size.l, size.n, size.m});
    break;
  case Task::dot_product:
    expect_dot<Wide>(workload, a, b);
    break;
  case Task::multiply:
  case Task::add:
    expect_elementwise(workload, kernel.task, a, b);
    break;
  case Task::transpose:
    expect_transposed(workload, a, size);
    break;
  }
  std::vector<std::byte> left = to_bytes(a);
  std::vector<std::byte> right = to_bytes(b);
  workload.serial = time_serially(kernel, size, left, right);
  if (kernel.precision != Precision::half_operands) {
    workload.left = std::move(left);
    workload.right = std::move(right);
  }
  return workload;
}

double element_at(Precision precision, std::span<const std::byte> bytes, std::size_t index) {
  if (precision == Precision::double_precision) {
    double value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof(double), sizeof(double));
    return value;
  }
  float value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof(float), sizeof(float));
  return static_cast<double>(value);
}

std::vector<double> decode(const KernelCase& kernel, std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / element_bytes(kernel.precision));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element_at(kernel.precision, bytes, i);
  }
  if (kernel.task != Task::dot_product) {
    return values;
  }
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return {sum};
}

} // namespace

Workload make_workload(const KernelCase& kernel, const Size& size, std::uint64_t seed) {
  return kernel.precision == Precision::double_precision
             ? make_typed<long double, double>(kernel, size, seed)
             : make_typed<double, float>(kernel, size, seed);
}

Comparison compare(const KernelCase& kernel, const Workload& workload,
                   std::span<const std::byte> result, double allowed_error) {
  const std::vector<double> got = decode(kernel, result);
  Comparison comparison;
  for (std::size_t i = 0; i < workload.expected.size(); ++i) {
    const double value = i < got.size() ? got[i] : std::numeric_limits<double>::quiet_NaN();
    const double difference = std::abs(value - workload.expected[i]);
    const double error = difference == 0 ? 0 : difference / workload.magnitude[i];
    comparison.largest_error = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                                 : std::max(comparison.largest_error, error);
    if (error <= allowed_error) {
      continue;
    }
    if (comparison.wrong == 0) {
      comparison.first_wrong = i;
      comparison.first_got = value;
      comparison.first_expected = workload.expected[i];
    }
    ++comparison.wrong;
  }
  return comparison;
}

std::vector<std::byte> poison(Precision precision, std::size_t elements) {
  return precision == Precision::double_precision
             ? to_bytes(std::vector<double>(elements, std::numeric_limits<double>::quiet_NaN()))
             : to_bytes(std::vector<float>(elements, std::numeric_limits<float>::quiet_NaN()));
}

} // namespace runtime_demo
