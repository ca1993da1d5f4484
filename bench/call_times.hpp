// What benchmarks share: values that must exist, times, and their median.
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace clbin::bench {

// Returns the value. Otherwise prints the error and ends the program with exit status 1.
template <typename T>
T value_of(base::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

// Returns how long one call takes.
template <typename Call>
double microseconds_of(const Call& call) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// `times` must not be empty.
[[nodiscard]] inline double median_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace clbin::bench
