// Words and names as the files of engines spell them.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc::plan {

// Returns words for a POSIX shell, each after a space: " --unit 'a b'". invalid_argument: a word
// contains a line break, which no line of an engine can contain.
[[nodiscard]] clbin::base::Result<std::string> shell_text(const std::vector<std::string>& words);
// Returns one word for a POSIX shell, without a space before it. Errors as above.
[[nodiscard]] clbin::base::Result<std::string> shell_word(std::string_view word);

inline constexpr std::string_view k_ninja_pipe = "pipe = |\n";
// Returns a value of a variable of ninja(1), which contains no line break.
[[nodiscard]] std::string ninja_value(std::string_view text);
// Returns a name in a build statement of ninja(1), in a file with the line k_ninja_pipe.
// invalid_argument: it contains a line break.
[[nodiscard]] clbin::base::Result<std::string> ninja_path(std::string_view path);

} // namespace oclcc::plan
