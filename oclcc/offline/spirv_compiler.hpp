// Compiles to SPIR-V with clang and its translator, and validates what they wrote.
#pragma once

#include "offline/offline_compiler.hpp"

namespace oclcc::offline {

[[nodiscard]] const FamilyCompiler& spirv_compiler();

} // namespace oclcc::offline
