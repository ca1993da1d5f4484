// Words of a command line: quoting, response files, spelling suggestions.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Returns `words` with every "@FILE" replaced by the words of that file, recursively. After "--",
// "@FILE" is an ordinary word. file_not_found, file_read; invalid_argument if files are nested too
// deeply, or more files, bytes or words are read than the limits that oclcc(1) documents.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
expand_response_files(const std::vector<std::string>& words);

// Returns the candidate most similar to `word`, or an empty string if none is similar.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

} // namespace oclcc
