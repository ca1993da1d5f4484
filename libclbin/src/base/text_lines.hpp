// Splits text into lines.
#pragma once

#include <string_view>
#include <vector>

namespace clbin::base {

// Returns the lines without their ends, which are "\n" or "\r\n". A line end at the end of the text
// starts no further line. The views refer to `text`.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

} // namespace clbin::base
