// The lines of a source text as clang counts them: each ends with LF, CR LF or CR alone.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace clbin::source {

// Returns the lines without their ends. A line end at the end of the text starts no further line.
// The views refer to `text`.
[[nodiscard]] std::vector<std::string_view> source_lines(std::string_view text);

[[nodiscard]] std::size_t count_line_ends(std::string_view text);

} // namespace clbin::source
