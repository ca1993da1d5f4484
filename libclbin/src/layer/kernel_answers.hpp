// Answers about the kernels of a substitute from what was recorded when the source was built,
// because drivers do not keep argument information in binaries.
#pragma once

#include "layer/program_table.hpp"

#include <cstddef>

namespace clbin::layer {

// Null if nothing is recorded.
[[nodiscard]] const format::KernelReflection* reflection_of(const TrackedKernel& kernel);

struct ArgumentQuery {
  cl_kernel_arg_info name;
  std::size_t size;
  void* value;
  std::size_t* size_ret;
};
// Answers clGetKernelArgInfo. CL_INVALID_ARG_INDEX: there is no such argument.
[[nodiscard]] cl_int answer_argument(const std::vector<format::KernelArgument>& arguments,
                                     cl_uint index, const ArgumentQuery& query);

} // namespace clbin::layer
