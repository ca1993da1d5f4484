#include "record/launch_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace oclcc {

namespace {

constexpr std::size_t k_max_line_bytes = 8192;
constexpr std::string_view k_offset = " offset";

struct Fields {
  std::string_view program;
  std::string_view variant;
  std::string_view kernel;
  std::array<std::string_view, 4> numbers; // dimensions, x, y, z
};

// Only the kernel's name may contain spaces: that of an entry point in IL is any text.
std::optional<Fields> fields_of(std::string_view line) {
  Fields fields;
  for (std::string_view* field : {&fields.program, &fields.variant}) {
    const std::size_t end = line.find(' ');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    *field = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  for (auto number = fields.numbers.rbegin(); number != fields.numbers.rend(); ++number) {
    const std::size_t end = line.rfind(' ');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    *number = line.substr(end + 1);
    line.remove_suffix(line.size() - end);
  }
  fields.kernel = line;
  return fields;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return !text.empty() && code == std::errc() && stop == end;
}

} // namespace

std::optional<LoggedLaunch> parse_launch(std::string_view line) {
  if (line.size() > k_max_line_bytes || std::any_of(line.begin(), line.end(), is_control)) {
    return std::nullopt;
  }
  const bool has_offset = line.ends_with(k_offset);
  if (has_offset) {
    line.remove_suffix(k_offset.size());
  }
  const std::optional<Fields> fields = fields_of(line);
  if (!fields.has_value() || fields->program.empty() || fields->variant.empty() ||
      fields->kernel.empty()) {
    return std::nullopt;
  }
  std::array<std::uint64_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!parse_number(fields->numbers[i], numbers[i])) {
      return std::nullopt;
    }
  }
  const std::uint64_t dimensions = numbers[0];
  if (dimensions < 1 || dimensions > 3) {
    return std::nullopt;
  }
  LoggedLaunch logged{std::string(fields->program),
                      {std::string(fields->variant),
                       std::string(fields->kernel),
                       static_cast<std::uint32_t>(dimensions),
                       {},
                       has_offset}};
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
