// Kernels as a person reads them.
#pragma once

#include "format/bundle.hpp"

#include <string>
#include <vector>

namespace oclcc {

[[nodiscard]] std::string_view address_space_name(clbin::format::AddressSpace space) noexcept;
// Empty for none.
[[nodiscard]] std::string_view access_name(clbin::format::AccessQualifier access) noexcept;

// "matmul(global float* restrict C, int width)"; "matmul(5 arguments)" or "matmul(...)" where less
// is known.
[[nodiscard]] std::string kernel_signature(const clbin::format::KernelReflection& kernel);
// "work-group 16x16x1 required, at most 256", "2048 bytes of local memory", …; what is not known is
// left out.
[[nodiscard]] std::vector<std::string> kernel_facts(const clbin::format::KernelReflection& kernel);

} // namespace oclcc
