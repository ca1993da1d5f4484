#include "layer/queries.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace clbin::layer {

cl_int Answer::bytes(base::ByteView bytes) const noexcept {
  if (value != nullptr && size < bytes.size()) {
    return CL_INVALID_VALUE;
  }
  if (value != nullptr && !bytes.empty()) {
    std::memcpy(value, bytes.data(), bytes.size());
  }
  if (size_ret != nullptr) {
    *size_ret = bytes.size();
  }
  return CL_SUCCESS;
}

std::vector<cl_device_id> context_devices(const cl_icd_dispatch& next, cl_context context) {
  return list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, value, size_ret);
  });
}

std::vector<cl_device_id> program_devices(const cl_icd_dispatch& next, cl_program program) {
  return list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, value, size_ret);
  });
}

cl_device_id queue_device(const cl_icd_dispatch& next, cl_command_queue queue) {
  cl_device_id device = nullptr;
  (void)next.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE,
                                   sizeof(device), // NOLINT(bugprone-sizeof-expression)
                                   static_cast<void*>(&device), nullptr);
  return device;
}

void* function_of(const cl_icd_dispatch& table, std::string_view name) {
  struct NamedFunction {
    std::string_view name;
    void* function;
  };
#define CLBIN_NAMED(function)                                                                      \
  NamedFunction {                                                                                  \
#function, reinterpret_cast < void*>(table.function)                                           \
  }
  const NamedFunction functions[]{CLBIN_NAMED(clGetPlatformIDs),
                                  CLBIN_NAMED(clGetPlatformInfo),
                                  CLBIN_NAMED(clGetDeviceIDs),
                                  CLBIN_NAMED(clGetDeviceInfo),
                                  CLBIN_NAMED(clCreateContext),
                                  CLBIN_NAMED(clReleaseContext),
                                  CLBIN_NAMED(clGetContextInfo),
                                  CLBIN_NAMED(clCreateProgramWithSource),
                                  CLBIN_NAMED(clCreateProgramWithBinary),
                                  CLBIN_NAMED(clCreateProgramWithIL),
                                  CLBIN_NAMED(clRetainProgram),
                                  CLBIN_NAMED(clReleaseProgram),
                                  CLBIN_NAMED(clBuildProgram),
                                  CLBIN_NAMED(clCompileProgram),
                                  CLBIN_NAMED(clLinkProgram),
                                  CLBIN_NAMED(clSetProgramSpecializationConstant),
                                  CLBIN_NAMED(clGetProgramInfo),
                                  CLBIN_NAMED(clGetProgramBuildInfo),
                                  CLBIN_NAMED(clCreateKernel),
                                  CLBIN_NAMED(clCreateKernelsInProgram),
                                  CLBIN_NAMED(clCloneKernel),
                                  CLBIN_NAMED(clRetainKernel),
                                  CLBIN_NAMED(clReleaseKernel),
                                  CLBIN_NAMED(clGetKernelInfo),
                                  CLBIN_NAMED(clGetKernelArgInfo),
                                  CLBIN_NAMED(clGetKernelWorkGroupInfo),
                                  CLBIN_NAMED(clEnqueueNDRangeKernel),
                                  CLBIN_NAMED(clEnqueueTask)};
#undef CLBIN_NAMED
  const auto* const found =
      std::find_if(std::begin(functions), std::end(functions),
                   [&](const NamedFunction& known) { return known.name == name; });
  return found == std::end(functions) ? nullptr : found->function;
}

base::Result<opencl::Driver> driver_of(const cl_icd_dispatch& table) {
  return opencl::resolve_driver([&](const char* name) { return function_of(table, name); });
}

} // namespace clbin::layer
