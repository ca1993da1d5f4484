#include "terminal/terminal_text.hpp"

#include <fmt/format.h>
#include <iterator>

namespace oclcc {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Combining marks and joiners, which occupy no cell (Unicode 15, the blocks that source code uses).
constexpr Range k_zero_width[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                  {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                  {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                                  {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// East Asian wide and full-width characters and emoji, which occupy two cells (Unicode's UAX #11).
constexpr Range k_double_width[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t Count>
bool is_in(const Range (&ranges)[Count], char32_t value) {
  return std::ranges::any_of(
      ranges, [value](const Range& range) { return value >= range.first && value <= range.last; });
}

std::size_t cell_count(const clbin::base::CodePoint& point) {
  if (is_in(k_zero_width, point.value)) {
    return 0;
  }
  return is_in(k_double_width, point.value) ? 2 : 1;
}

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

std::string padding_below(std::string_view line, std::size_t column) {
  const std::string_view before =
      line.substr(0, std::min(line.size(), std::max<std::size_t>(column, 1) - 1));
  std::string padding;
  for (std::size_t i = 0; i < before.size();) {
    const clbin::base::CodePoint point = clbin::base::first_character(before.substr(i));
    if (point.value == U'\t') {
      padding += '\t';
    } else {
      padding.append(cell_count(point), ' ');
    }
    i += point.size_bytes;
  }
  return padding;
}

std::string_view fitting(std::string_view text, std::size_t cells) {
  std::size_t end = 0;
  std::size_t used = 0;
  while (end < text.size()) {
    const clbin::base::CodePoint point = clbin::base::first_character(text.substr(end));
    used += cell_count(point);
    if (used > cells) {
      break;
    }
    end += point.size_bytes;
  }
  return text.substr(0, end);
}

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

std::string time_text(std::uint64_t nanoseconds) {
  constexpr std::uint64_t k_step = 1000;
  std::uint64_t time = nanoseconds;
  for (const std::string_view unit : {"ns", "us", "ms"}) {
    if (time < 10 * k_step) {
      return fmt::format("{} {}", time, unit);
    }
    time /= k_step;
  }
  return fmt::format("{} s", time);
}

std::string report_json(clbin::base::JsonObject members) {
  members["version"] = {k_report_version};
  return printable_json(
      clbin::base::write_json({std::move(members)}, clbin::base::JsonLayout::indented));
}

} // namespace oclcc
