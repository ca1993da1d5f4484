#include "terminal/progress_text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace oclcc {

namespace {

constexpr std::size_t k_least_units = 2;
constexpr std::chrono::milliseconds k_least_time{1000};

// Returns "12 s", "3 min", "2 h 5 min", rounded up, so that a run does not end later than shown.
std::string duration_text(std::chrono::milliseconds duration) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
  if (seconds <= 90) {
    return fmt::format("{} s", seconds);
  }
  const auto minutes = (seconds + 59) / 60;
  if (minutes < 60) {
    return fmt::format("{} min", minutes);
  }
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

} // namespace

std::string progress_line(const Progress& progress) {
  return fmt::format("[{}/{}] {}", progress.done, progress.total, progress.label);
}

std::string progress_line_with_time(const Progress& progress) {
  const bool is_known = progress.done >= k_least_units && progress.done < progress.total &&
                        progress.elapsed >= k_least_time;
  if (!is_known) {
    return progress_line(progress);
  }
  const auto done = static_cast<std::int64_t>(progress.done);
  const auto left = static_cast<std::int64_t>(progress.total) - done;
  return fmt::format("{} · {} left", progress_line(progress),
                     duration_text(progress.elapsed * left / done));
}

} // namespace oclcc
