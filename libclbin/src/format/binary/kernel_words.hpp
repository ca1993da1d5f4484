// The words of OpenCL C for properties of kernel arguments.
#pragma once

#include "format/binary/kernel_reflection.hpp"

#include <string_view>

namespace clbin::format {

[[nodiscard]] std::string_view address_space_name(AddressSpace space) noexcept;
// Returns an empty text for no qualifier.
[[nodiscard]] std::string_view access_name(AccessQualifier access) noexcept;

} // namespace clbin::format
