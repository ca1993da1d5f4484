#include "readable_number.hpp"

#include <fmt/format.h>

namespace runtime_demo {

std::string readable_number(double value) {
  if (value == 0) {
    return "-";
  }
  if (value >= 100) {
    return fmt::format("{:.0f}", value);
  }
  if (value >= 10) {
    return fmt::format("{:.1f}", value);
  }
  if (value >= 0.1) {
    return fmt::format("{:.2f}", value);
  }
  return value >= 0.001 ? fmt::format("{:.4f}", value) : fmt::format("{:.1e}", value);
}

} // namespace runtime_demo
