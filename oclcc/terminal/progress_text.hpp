// Formats the progress of a run as one line.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace oclcc {

struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::chrono::milliseconds elapsed{0};
  std::string label; // of the last finished unit, or of the first unit
};

// "[7/24] NVIDIA H200 · matmul.cl · fp16"
[[nodiscard]] std::string progress_line(const Progress& progress);

// Appends " · 12 s left" after a second and two units. The estimate is based on the average time
// per unit.
[[nodiscard]] std::string progress_line_with_time(const Progress& progress);

} // namespace oclcc
