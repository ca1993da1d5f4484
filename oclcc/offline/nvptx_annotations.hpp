// Adds to the IR of an OpenCL program what clang writes for CUDA only, and NVIDIA's back end needs.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

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
// - copies in global memory of the strings that printf takes, because the driver reads no others;
// - functions other than kernels internal, and inlined where there are images: a handle must reach
//   its instruction as a parameter of the kernel.
// invalid_argument: a string of printf, or a sampler, is not constant.
[[nodiscard]] clbin::base::Result<std::string> annotate_nvptx(std::string_view ir,
                                                              const NvptxSettings& settings);

} // namespace oclcc::offline
