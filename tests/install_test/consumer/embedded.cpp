#include "run_scale.hpp"

#include "scale_kernels.h"
#include "scale_kernels.hpp"

#include <type_traits>

static_assert(std::is_invocable_v<kernels::scale::scale&, cl::CommandQueue&, const clbin::Launch&,
                                  clbin::Buffer<cl_int>&>);
int main() {
  return run_scale(clbin::Bundle::from_memory(scale_kernels_clbin, scale_kernels_clbin_size));
}
