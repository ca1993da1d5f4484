// Compiles for NVIDIA's devices to machine code, as PTX that ptxas converts.
#pragma once

#include "offline/offline_compiler.hpp"

namespace oclcc::offline {

[[nodiscard]] const FamilyCompiler& cubin_compiler();

} // namespace oclcc::offline
