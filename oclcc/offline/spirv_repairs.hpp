// Rewrites LLVM's textual IR so that llvm-spirv 15 translates it to valid SPIR-V.
#pragma once

#include <string>
#include <string_view>

namespace oclcc::offline {

// Returns the IR with the condition of each `select` of vectors as a vector, which SPIR-V below 1.4
// requires.
[[nodiscard]] std::string repaired_for_spirv(std::string_view ir);

} // namespace oclcc::offline
