// Functions of kernels. A kernel of a substitute is the driver's own object; it belongs to the
// application's program. Its arguments and attributes are answered from what was recorded when the
// source was built, because drivers do not keep them in binaries.
#include "layer/layer.hpp"

namespace clbin::layer {
namespace {

using format::KernelArgument;

cl_kernel_arg_type_qualifier type_qualifiers_of(const KernelArgument& argument) {
  return (argument.is_const ? CL_KERNEL_ARG_TYPE_CONST : 0U) |
         (argument.is_restrict ? CL_KERNEL_ARG_TYPE_RESTRICT : 0U) |
         (argument.is_volatile ? CL_KERNEL_ARG_TYPE_VOLATILE : 0U) |
         (argument.is_pipe ? CL_KERNEL_ARG_TYPE_PIPE : 0U);
}

// Null if nothing is recorded.
const format::KernelReflection* reflection_of(const std::optional<TrackedKernel>& kernel) {
  return kernel.has_value() && kernel->substitute != nullptr
             ? kernel->substitute->kernel(kernel->name)
             : nullptr;
}

// Returns what is recorded of an argument. std::nullopt: the driver answers. It may know a kernel's
// arguments, but not the names (rusticl's of IL), and says whether a missing name is unknown.
std::optional<cl_int> recorded_answer(const format::KernelReflection* kernel, cl_uint index,
                                      cl_kernel_arg_info name, const Answer& answer) {
  if (kernel == nullptr || !kernel->arguments.has_value()) {
    return std::nullopt;
  }
  if (index >= kernel->arguments->size()) {
    return CL_INVALID_ARG_INDEX;
  }
  const KernelArgument& argument = (*kernel->arguments)[index];
  const std::string& text = name == CL_KERNEL_ARG_NAME ? argument.name : argument.type_name;
  switch (name) {
  case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
    return answer.number(
        opencl::k_address_qualifiers[static_cast<std::size_t>(argument.address_space)]);
  case CL_KERNEL_ARG_ACCESS_QUALIFIER:
    return answer.number(opencl::k_access_qualifiers[static_cast<std::size_t>(argument.access)]);
  case CL_KERNEL_ARG_TYPE_QUALIFIER:
    return answer.number(type_qualifiers_of(argument));
  case CL_KERNEL_ARG_TYPE_NAME:
  case CL_KERNEL_ARG_NAME:
    return text.empty() ? std::nullopt : std::optional(answer.text(text));
  default:
    return CL_INVALID_VALUE;
  }
}

// Returns the substitute if the kernels come from it.
std::shared_ptr<const Substitute> origin_of_kernels(const ProgramView& view) {
  return view.has_program() ? view.substitute : nullptr;
}

// A driver may use the address of a kernel again.
void note_new_kernel(Layer& layer, cl_kernel kernel, cl_kernel original = nullptr) {
  if (kernel != nullptr && layer.data != nullptr) {
    without_exceptions([&] { layer.data->add_kernel(kernel, original); });
  }
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  Layer& layer = active_layer();
  const ProgramView view = layer.programs.find(program);
  const cl_kernel kernel = layer.next.clCreateKernel(view.built(program), name, code);
  if (kernel != nullptr && view.program != nullptr) {
    without_exceptions(
        [&] { layer.programs.add_kernel(kernel, view.program, origin_of_kernels(view), name); });
  }
  note_new_kernel(layer, kernel);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* count_ret) {
  Layer& layer = active_layer();
  const ProgramView view = layer.programs.find(program);
  cl_uint created = 0;
  const cl_int code =
      layer.next.clCreateKernelsInProgram(view.built(program), count, kernels, &created);
  if (code == CL_SUCCESS && count_ret != nullptr) {
    *count_ret = created;
  }
  if (code != CL_SUCCESS || kernels == nullptr || view.program == nullptr) {
    return code;
  }
  for (cl_uint i = 0; i < std::min(count, created); ++i) {
    note_new_kernel(layer, kernels[i]);
    without_exceptions([&] {
      std::string name =
          opencl::ask_text([&](std::size_t size, void* value, std::size_t* size_ret) {
            return layer.next.clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, size, value,
                                              size_ret);
          });
      layer.programs.add_kernel(kernels[i], view.program, origin_of_kernels(view), std::move(name));
    });
  }
  return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* code) {
  Layer& layer = active_layer();
  const cl_kernel kernel = layer.next.clCloneKernel(source, code);
  if (kernel != nullptr) {
    without_exceptions([&] {
      const auto original = layer.programs.find_kernel(source);
      if (original.has_value()) {
        layer.programs.add_kernel(kernel, original->program, original->substitute, original->name);
      }
    });
  }
  note_new_kernel(layer, kernel, source);
  return kernel;
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) {
  Layer& layer = active_layer();
  const cl_int code = layer.next.clRetainKernel(kernel);
  if (code == CL_SUCCESS) {
    layer.programs.retain_kernel(kernel);
  }
  return code;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  Layer& layer = active_layer();
  const Ended ended = layer.programs.release_kernel(kernel);
  keep(layer, ended.due);
  const cl_int code = layer.next.clReleaseKernel(kernel);
  release(layer, ended);
  return code;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t size,
                                const void* value) {
  Layer& layer = active_layer();
  const cl_int code = layer.next.clSetKernelArg(kernel, index, size, value);
  if (code == CL_SUCCESS) {
    without_exceptions([&] { layer.data->set_argument(kernel, index, size, value); });
  }
  return code;
}

cl_int CL_API_CALL set_svm_argument(cl_kernel kernel, cl_uint index, const void* value) {
  Layer& layer = active_layer();
  without_exceptions([&] { layer.data->set_unknown_memory(kernel); });
  return layer.next.clSetKernelArgSVMPointer(kernel, index, value);
}

cl_int CL_API_CALL set_execution_info(cl_kernel kernel, cl_kernel_exec_info name, std::size_t size,
                                      const void* value) {
  Layer& layer = active_layer();
  without_exceptions([&] { layer.data->set_unknown_memory(kernel); });
  return layer.next.clSetKernelExecInfo(kernel, name, size, value);
}

cl_event CL_API_CALL create_user_event(cl_context context, cl_int* code) {
  Layer& layer = active_layer();
  const cl_event event = layer.next.clCreateUserEvent(context, code);
  if (event != nullptr) {
    without_exceptions([&] { layer.data->add_user_event(event); });
  }
  return event;
}

cl_int CL_API_CALL set_user_event(cl_event event, cl_int status) {
  Layer& layer = active_layer();
  const cl_int code = layer.next.clSetUserEventStatus(event, status);
  if (code == CL_SUCCESS) {
    without_exceptions([&] { layer.data->end_user_event(event); });
  }
  return code;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  return guarded([&](Layer& layer) {
    const Answer answer{size, value, size_ret};
    const auto found = name == CL_KERNEL_PROGRAM || name == CL_KERNEL_ATTRIBUTES
                           ? layer.programs.find_kernel(kernel)
                           : std::nullopt;
    if (name == CL_KERNEL_PROGRAM && found.has_value() && found->substitute != nullptr) {
      return answer.number(found->program->handle);
    }
    const auto* const reflection = reflection_of(found);
    return reflection != nullptr && !reflection->attributes.empty()
               ? answer.text(reflection->attributes)
               : layer.next.clGetKernelInfo(kernel, name, size, value, size_ret);
  });
}

cl_int CL_API_CALL get_kernel_argument_info(cl_kernel kernel, cl_uint index,
                                            cl_kernel_arg_info name, std::size_t size, void* value,
                                            std::size_t* size_ret) {
  return guarded([&](Layer& layer) {
    const auto found = layer.programs.find_kernel(kernel);
    const auto recorded =
        recorded_answer(reflection_of(found), index, name, {size, value, size_ret});
    return recorded.has_value()
               ? *recorded
               : layer.next.clGetKernelArgInfo(kernel, index, name, size, value, size_ret);
  });
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

void add_argument_calls(cl_icd_dispatch& table) {
  intercept(table.clSetKernelArg, set_argument);
  intercept(table.clSetKernelArgSVMPointer, set_svm_argument);
  intercept(table.clSetKernelExecInfo, set_execution_info);
  intercept(table.clCreateUserEvent, create_user_event);
  intercept(table.clSetUserEventStatus, set_user_event);
}

} // namespace clbin::layer
