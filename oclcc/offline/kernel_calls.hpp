// Makes kernels callable by kernels.
#pragma once

#include <string>
#include <string_view>

namespace oclcc::offline {

// Returns LLVM's textual IR in which kernels that call kernels call copies of them, which are
// functions. OpenCL C, section "Function qualifiers", permits such calls; neither PTX nor AMD's
// code can call a kernel. The copies may be inlined, although clang forbids it for kernels of
// NVIDIA's devices. A kernel that is declared only has no copy. Returns `ir` if no kernel is
// called.
[[nodiscard]] std::string with_callable_kernels(std::string_view ir);

} // namespace oclcc::offline
