// Compiles to AMD's code objects with clang, lld and AMD's device libraries.
#pragma once

#include "offline/offline_compiler.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

[[nodiscard]] const FamilyCompiler& amdgcn_compiler();

// invalid_argument: in `ir`, which is not optimized, the format or a string of a call of printf is
// not a literal or a constant array. LLVM would drop the call, or print "???".
[[nodiscard]] clbin::base::Result<void> require_constant_strings(std::string_view ir);

// Returns the symbols that lld reports as undefined, in ascending order.
[[nodiscard]] std::vector<std::string> undefined_symbols(std::string_view lld_output);

} // namespace oclcc::offline
