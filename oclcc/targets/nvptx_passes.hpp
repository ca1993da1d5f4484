// What clang leaves to be done for NVIDIA's devices, before its back end, in the IR of an OpenCL
// program, and after it, in the PTX.
#pragma once

#include "terminal/reporter.hpp"

namespace oclcc::offline {

// Of float: OpenCL C, section "Relative Error as ULPs", permits 3 ULP unless
// -cl-fp32-correctly-rounded-divide-sqrt is given.
enum class SquareRoot : std::uint8_t { approximate, correctly_rounded };

struct NvptxSettings {
  std::optional<unsigned> max_registers; // -cl-nv-maxrregcount
  SquareRoot square_root = SquareRoot::approximate;
};

// Returns the IR with:
// - annotations of image and sampler arguments, from which the back end makes .texref, .surfref and
//   .samplerref parameters, of required work-group sizes (.reqntid) and of `settings`;
// - a .global .samplerref for each constant sampler;
// - the square roots of float that `settings` wants;
// - divisions of half that are correctly rounded;
// - copies in global memory of the strings that printf takes, because the driver reads no others;
// - functions other than kernels internal, and inlined where there are images: a handle must reach
//   its instruction as a parameter of the kernel.
// invalid_argument: a string of printf, or a sampler, is not constant.
[[nodiscard]] Result<std::string> annotate_nvptx(std::string_view ir,
                                                 const NvptxSettings& settings);

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
// distance to 64, and drops the user's own "& 63". Those of LLVM 17 and later are reduced already,
// and stay. internal: a rotation has neither form.
[[nodiscard]] Result<std::string> with_reduced_rotations(std::string_view ptx);

// Returns the module with loops that end by a conditional branch back to their start. LLVM ends
// them by a conditional branch out of the loop before one back, and ptxas does not unroll such
// loops.
[[nodiscard]] std::string with_branches_back(std::string_view ptx);

// Returns the module with loops that count down to 0 where with_branches_back left a comparison of
// a counter with a bound. NVIDIA's compiler writes such loops.
[[nodiscard]] std::string with_counts_down(std::string_view ptx);

// Returns the module for another version of PTX and another architecture. internal: the module does
// not begin with its version and its target.
[[nodiscard]] Result<std::string> retargeted(std::string_view ptx, std::string_view version,
                                             std::string_view architecture);

// Returns the section of the attributes of kernels, which the driver answers to
// clGetKernelInfo(CL_KERNEL_ATTRIBUTES), for the kernels of `ir`; empty if none has attributes.
[[nodiscard]] std::string attributes_section(std::string_view ir);

} // namespace oclcc::offline
