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

// `at` is the position after a backslash. Returns the position after the end of a line that the
// backslash hides, with the blanks before it, which gcc and clang permit; `at` itself if it hides
// none. Like clang, takes LF CR for one end of a line here, although clang counts two lines.
[[nodiscard]] std::size_t after_hidden_line_end(std::string_view text, std::size_t at);

} // namespace clbin::source
