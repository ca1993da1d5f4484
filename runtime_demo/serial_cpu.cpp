#include "serial_cpu.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

namespace runtime_demo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double k_shortest_seconds = 0.02;
constexpr double k_longest_seconds = 1.0;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class T>
std::vector<T> typed(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

// Prevents the compiler from removing loops whose results are not used.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

template <class T>
void multiply(const T* a, const T* b, T* c, std::size_t rows, std::size_t n, std::size_t l) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < l; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += a[i * n + k] * b[k * l + j];
      }
      c[i * l + j] = sum;
    }
  }
}

template <class T>
void multiply_column_major(const T* a, const T* b, T* c, std::size_t m, std::size_t n,
                           std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      T sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += a[k * m + i] * b[j * n + k];
      }
      c[j * m + i] = sum;
    }
  }
}

template <class T>
T dot(const std::vector<T>& a, const std::vector<T>& b) {
  T sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

template <class T>
void transpose(const T* in, T* out, std::size_t height, std::size_t width) {
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      out[column * height + row] = in[row * width + column];
    }
  }
}

template <class Step>
double time_whole(const Step& step) {
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  std::size_t runs = 0;
  while (seconds < k_shortest_seconds) {
    step();
    ++runs;
    seconds = seconds_since(start);
  }
  return seconds / static_cast<double>(runs);
}

// `lines` is the number of rows, or of columns for a column-major product. `step(first, count)`
// computes `count` of them.
template <class Step>
SerialTime time_product(std::size_t lines, const Step& step) {
  const Clock::time_point start = Clock::now();
  std::size_t done = 0;
  while (done < lines && seconds_since(start) < k_longest_seconds) {
    const std::size_t count = std::min<std::size_t>(lines - done, 8);
    step(done, count);
    done += count;
  }
  const double seconds = seconds_since(start);
  if (done == lines && seconds < k_shortest_seconds) {
    return {time_whole([&] { step(0, lines); }), 1};
  }
  const double part = static_cast<double>(done) / static_cast<double>(lines);
  return {seconds / part, part};
}

template <class T>
SerialTime time_typed(const KernelCase& kernel, const Size& size, std::span<const std::byte> left,
                      std::span<const std::byte> right) {
  const std::vector<T> a = typed<T>(left);
  const std::vector<T> b = typed<T>(right);
  const bool product = kernel.task == Task::product || kernel.task == Task::column_major_product;
  std::vector<T> c(product ? size.m * size.l : a.size());
  switch (kernel.task) {
  case Task::product:
    return time_product(size.m, [&](std::size_t first, std::size_t count) {
      multiply(a.data() + first * size.n, b.data(), c.data() + first * size.l, count, size.n,
               size.l);
      keep(c);
    });
  case Task::column_major_product:
    return time_product(size.l, [&](std::size_t first, std::size_t count) {
      multiply_column_major(a.data(), b.data() + first * size.n, c.data() + first * size.m, size.m,
                            size.n, count);
      keep(c);
    });
  case Task::dot_product:
    return {time_whole([&] { keep(dot(a, b)); }), 1};
  case Task::multiply:
    return {time_whole([&] {
              std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::multiplies<T>());
              keep(c);
            }),
            1};
  case Task::add:
    return {time_whole([&] {
              std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::plus<T>());
              keep(c);
            }),
            1};
  case Task::transpose:
    break;
  }
  return {time_whole([&] {
            transpose(a.data(), c.data(), size.m, size.n);
            keep(c);
          }),
          1};
}

} // namespace

SerialTime time_serially(const KernelCase& kernel, const Size& size,
                         std::span<const std::byte> left, std::span<const std::byte> right) {
  return kernel.precision == Precision::double_precision
             ? time_typed<double>(kernel, size, left, right)
             : time_typed<float>(kernel, size, left, right);
}

} // namespace runtime_demo
