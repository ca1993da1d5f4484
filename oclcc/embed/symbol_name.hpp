// Names of embedded bundles in C.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace oclcc::embed {

// Returns "my_kernels_clbin" for "my-kernels". Prefixes "k" if the stem starts with a digit or "_".
[[nodiscard]] std::string default_symbol(std::string_view stem);

// invalid_argument unless `symbol` is an identifier in C and C++ that is neither a keyword nor
// reserved ("__", or "_X" at the beginning).
[[nodiscard]] clbin::base::Result<void> check_symbol(std::string_view symbol);

} // namespace oclcc::embed
