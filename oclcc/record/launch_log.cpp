#include "record/launch_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace oclcc {

namespace {

constexpr std::size_t k_max_line_bytes = 8192;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = line.find(' ');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) {
      return fields;
    }
    line.remove_prefix(end + 1);
  }
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return !text.empty() && code == std::errc() && stop == end;
}

} // namespace

std::optional<LoggedLaunch> parse_launch(std::string_view line) {
  constexpr std::size_t k_fields = 7;
  constexpr std::size_t k_first_number = 3;
  const std::vector<std::string_view> fields = fields_of(line.substr(0, k_max_line_bytes));
  const auto is_empty = [](std::string_view field) { return field.empty(); };
  if (line.size() > k_max_line_bytes || fields.size() != k_fields ||
      std::any_of(fields.begin(), fields.end(), is_empty)) {
    return std::nullopt;
  }
  std::array<std::uint64_t, 4> numbers{}; // dimensions, x, y, z
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!parse_number(fields[k_first_number + i], numbers[i])) {
      return std::nullopt;
    }
  }
  const std::uint64_t dimensions = numbers[0];
  if (dimensions < 1 || dimensions > 3) {
    return std::nullopt;
  }
  LoggedLaunch logged{
      std::string(fields[0]),
      {std::string(fields[1]), std::string(fields[2]), static_cast<std::uint32_t>(dimensions), {}}};
  const bool is_null = numbers[1] == 0;
  for (std::size_t i = 0; i < 3 && !is_null; ++i) {
    logged.launch.local_size[i] = i < dimensions ? numbers[i + 1] : 1;
    if (logged.launch.local_size[i] == 0) {
      return std::nullopt;
    }
  }
  return logged;
}

} // namespace oclcc
