// How far is a run? As one line.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace oclcc {

struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::chrono::milliseconds elapsed{0};
  std::string label; // of the unit that ended last, or of the first one
};

// "[7/24] NVIDIA H200 · matmul.cl · fp16"
[[nodiscard]] std::string progress_line(const Progress& progress);

// With " · 12 s left" behind it once that can be known: after a second and two units, from what
// a unit took on average.
[[nodiscard]] std::string progress_line_with_time(const Progress& progress);

} // namespace oclcc
