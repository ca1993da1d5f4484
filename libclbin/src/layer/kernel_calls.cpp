// Functions of kernels. A kernel of a substitute is the driver's own object; it belongs to the
// application's program.
#include "layer/kernel_answers.hpp"
#include "layer/layer.hpp"

#include <algorithm>

namespace clbin::layer {
namespace {

// The program of which the driver makes the kernels of `program`.
cl_program program_with_kernels(const ProgramView& view, cl_program program) {
  return view.has_program() ? view.substitute->program() : program;
}

// Returns the substitute if the kernels come from it.
std::shared_ptr<const Substitute> origin_of_kernels(const ProgramView& view) {
  return view.has_program() ? view.substitute : nullptr;
}

std::string kernel_name(const Layer& layer, cl_kernel kernel) {
  const auto text = list_of<char>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return layer.next().clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, value, size_ret);
  });
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  Layer& layer = active_layer();
  const ProgramView view = layer.programs().find(program);
  const cl_kernel kernel =
      layer.next().clCreateKernel(program_with_kernels(view, program), name, code);
  if (kernel != nullptr && view.program != nullptr) {
    without_exceptions(
        [&] { layer.programs().add_kernel(kernel, view.program, origin_of_kernels(view), name); });
  }
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* count_ret) {
  Layer& layer = active_layer();
  const ProgramView view = layer.programs().find(program);
  cl_uint created = 0;
  const cl_int code = layer.next().clCreateKernelsInProgram(program_with_kernels(view, program),
                                                            count, kernels, &created);
  if (code == CL_SUCCESS && count_ret != nullptr) {
    *count_ret = created;
  }
  if (code != CL_SUCCESS || kernels == nullptr || view.program == nullptr) {
    return code;
  }
  for (cl_uint i = 0; i < std::min(count, created); ++i) {
    without_exceptions([&] {
      layer.programs().add_kernel(kernels[i], view.program, origin_of_kernels(view),
                                  kernel_name(layer, kernels[i]));
    });
  }
  return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* code) {
  Layer& layer = active_layer();
  const cl_kernel kernel = layer.next().clCloneKernel(source, code);
  if (kernel != nullptr) {
    without_exceptions([&] {
      const auto original = layer.programs().find_kernel(source);
      if (original.has_value()) {
        layer.programs().add_kernel(kernel, original->program, original->substitute,
                                    original->name);
      }
    });
  }
  return kernel;
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) {
  Layer& layer = active_layer();
  const cl_int code = layer.next().clRetainKernel(kernel);
  if (code == CL_SUCCESS) {
    layer.programs().retain_kernel(kernel);
  }
  return code;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  Layer& layer = active_layer();
  const Ended ended = layer.programs().release_kernel(kernel);
  layer.builds().keep(ended.due);
  const cl_int code = layer.next().clReleaseKernel(kernel);
  layer.release(ended);
  return code;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  Layer& layer = active_layer();
  const auto ask = [&] {
    return layer.next().clGetKernelInfo(kernel, name, size, value, size_ret);
  };
  if (name != CL_KERNEL_PROGRAM && name != CL_KERNEL_ATTRIBUTES) {
    return ask();
  }
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const auto found = layer.programs().find_kernel(kernel);
    if (!found.has_value() || found->substitute == nullptr) {
      code = ask();
    } else if (name == CL_KERNEL_PROGRAM) {
      code = answer_value(found->program->handle, size, value, size_ret);
    } else {
      const auto* const reflection = reflection_of(*found);
      code = reflection == nullptr || reflection->attributes.empty()
                 ? ask()
                 : answer_text(reflection->attributes, size, value, size_ret);
    }
  });
  return code;
}

cl_int CL_API_CALL get_kernel_argument_info(cl_kernel kernel, cl_uint index,
                                            cl_kernel_arg_info name, std::size_t size, void* value,
                                            std::size_t* size_ret) {
  Layer& layer = active_layer();
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const auto found = layer.programs().find_kernel(kernel);
    const auto* const reflection =
        found.has_value() && found->substitute != nullptr ? reflection_of(*found) : nullptr;
    code = reflection == nullptr || !reflection->arguments.has_value()
               ? layer.next().clGetKernelArgInfo(kernel, index, name, size, value, size_ret)
               : answer_argument(*reflection->arguments, index, {name, size, value, size_ret});
  });
  return code;
}

} // namespace

void add_kernel_calls(cl_icd_dispatch& table) {
  intercept(table.clCreateKernel, create_kernel);
  intercept(table.clCreateKernelsInProgram, create_kernels);
  intercept(table.clCloneKernel, clone_kernel);
  intercept(table.clRetainKernel, retain_kernel);
  intercept(table.clReleaseKernel, release_kernel);
  intercept(table.clGetKernelInfo, get_kernel_info);
  intercept(table.clGetKernelArgInfo, get_kernel_argument_info);
}

} // namespace clbin::layer
