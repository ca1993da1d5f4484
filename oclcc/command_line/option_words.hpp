// Words of a command line: quoting, response files, spelling.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Words with every "@FILE" replaced by the words of that file, which may name further ones; "@FILE"
// after "--" is an ordinary word. file_not_found, file_read; invalid_argument for files that name
// each other.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
expand_response_files(const std::vector<std::string>& words);

// The candidate that a person most likely meant by `word`; empty where none is close.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

} // namespace oclcc
