// What NVIDIA's back end leaves to be checked, mended or added in the PTX that it wrote.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

// Returns the functions, by their mangled names, that are declared or called and not defined, in
// ascending order. The nvcl flavour declares a missing function as ".func NAME (…) ;", never as
// .extern. The driver has vprintf, which is therefore not among them. Kernels are defined.
[[nodiscard]] std::vector<std::string> unresolved_functions(std::string_view ptx);

// Returns the variables that the module declares as .extern, in the order of the module. ptxas
// takes such a variable for a variable without a value, and says so in a warning only.
[[nodiscard]] std::vector<std::string> unresolved_variables(std::string_view ptx);

// Returns the kernels that the module calls, in ascending order, which the driver rejects.
[[nodiscard]] std::vector<std::string> called_kernels(std::string_view ptx);

// Returns the functions, other than kernels, that contain instructions of images, in the order of
// the module. The driver accepts such instructions in kernels only, whose parameters the images
// are.
[[nodiscard]] std::vector<std::string> functions_with_images(std::string_view ptx);

// Reduces the distances of 64-bit rotations. LLVM 15 emulates these with shifts, which limit a
// distance to 64, and drops the user's own "& 63". internal: a rotation has another form than the
// known one.
[[nodiscard]] clbin::base::Result<std::string> with_reduced_rotations(std::string_view ptx);

// Returns the module for another version of PTX and another architecture. internal: the module does
// not begin with its version and its target.
[[nodiscard]] clbin::base::Result<std::string>
retargeted(std::string_view ptx, std::string_view version, std::string_view architecture);

// Returns the section of the attributes of kernels, which the driver answers to
// clGetKernelInfo(CL_KERNEL_ATTRIBUTES), for the kernels of `ir`; empty if none has attributes.
[[nodiscard]] std::string attributes_section(std::string_view ir);

} // namespace oclcc::offline
