// The inverse of parsing: options as words.
#pragma once

#include "command_line/options.hpp"

#include <string>
#include <vector>

namespace oclcc {

// Appends the words of what every unit of a compile is built with: macros, OpenCL options, headers,
// specializations, and what its bundle contains. Not the variants.
void add_source_words(const Options& options, std::vector<std::string>& words);

} // namespace oclcc
