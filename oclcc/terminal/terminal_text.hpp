// Formats text for a terminal, and the --json reports, which oclcc/schema describes.
#pragma once

#include "base/text.hpp"
#include "listing/json_parts.hpp"

#include <chrono>

namespace oclcc {

using clbin::base::array_of;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonStream;
using clbin::base::JsonValue;
using clbin::base::printable;
using clbin::base::printable_json;
using clbin::base::printable_lines;
using clbin::base::strings_json;
using clbin::listing::errors_json;
using clbin::listing::identity_json;
using clbin::listing::k_report_version;

// Returns white space as wide as the first `column` - 1 bytes of `line` on a terminal, with tabs
// unchanged. Following text is then below byte `column` (from 1; 0 counts as 1). Each byte that is
// not UTF-8 counts as one cell.
[[nodiscard]] std::string padding_below(std::string_view line, std::size_t column);

// Returns the longest prefix of `text` that fits in `cells` cells of a line.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t cells);

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

// Returns a time with three digits or more, in the largest unit that leaves them: "1234 us".
[[nodiscard]] std::string time_text(std::uint64_t nanoseconds);

// Returns the whole report: `members` and the version of the schemas.
[[nodiscard]] std::string report_json(clbin::base::JsonObject members);

} // namespace oclcc
