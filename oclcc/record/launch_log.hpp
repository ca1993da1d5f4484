// Reads what the layer writes of launches.
#pragma once

#include "format/bundle/bundle.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace oclcc {

struct LoggedLaunch {
  std::string program;
  clbin::format::RecordedLaunch launch;
};

// Parses "PROGRAM VARIANT KERNEL DIMENSIONS X Y Z", without a line end. KERNEL may contain spaces.
// X, Y and Z are 0 for a local size of NULL. std::nullopt for any other text.
[[nodiscard]] std::optional<LoggedLaunch> parse_launch(std::string_view line);

} // namespace oclcc
