// What an embedded bundle is called in C.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace oclcc::embed {

// "my-kernels" → "my_kernels_clbin"; a "k" in front where the stem begins with a digit or "_".
[[nodiscard]] std::string default_symbol(std::string_view stem);

// invalid_argument unless `symbol` is an identifier in C and C++, and neither language's own: no
// keyword, no "__" and no "_X" at the beginning.
[[nodiscard]] clbin::base::Result<void> check_symbol(std::string_view symbol);

} // namespace oclcc::embed
