// Functions that a program uses and nothing defines.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

// Returns the name in the source of a mangled symbol: "sqrt" for "_Z4sqrtDv2_f". Other symbols are
// names already.
[[nodiscard]] std::string source_name(std::string_view symbol);

// invalid_argument, with the name in the source of each, if there are unresolved symbols. A driver
// would refuse the binary, or fail when the kernel is created.
[[nodiscard]] clbin::base::Result<void>
require_resolved(const std::vector<std::string>& unresolved_symbols);

} // namespace oclcc::offline
