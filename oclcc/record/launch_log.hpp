// Reads what the layer writes of launches.
#pragma once

#include "model/bundle.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace oclcc {

struct LoggedLaunch {
  std::string program;
  clbin::format::RecordedLaunch launch;
};

// Parses "PROGRAM VARIANT KERNEL DIMENSIONS X Y Z", without a line end; " offset" follows if the
// launch has a global offset other than 0. KERNEL may contain spaces. X, Y and Z are 0 for a local
// size of NULL. std::nullopt for any other text.
[[nodiscard]] std::optional<LoggedLaunch> parse_launch(std::string_view line);

} // namespace oclcc
