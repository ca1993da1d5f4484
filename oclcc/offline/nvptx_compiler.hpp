// Compiles to PTX that NVIDIA's OpenCL driver loads, with clang and libclc.
#pragma once

#include "offline/offline_compiler.hpp"

namespace oclcc::offline {

[[nodiscard]] const FamilyCompiler& nvptx_compiler();

} // namespace oclcc::offline
