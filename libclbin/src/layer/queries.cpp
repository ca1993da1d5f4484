#include "layer/queries.hpp"

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
  using Named = std::pair<std::string_view, void*>;
#define CLBIN_NAMED(function, use, need)                                                           \
  Named{"cl" #function, reinterpret_cast<void*>(table.cl##function)},
  const Named functions[]{
      CLBIN_DRIVER_FUNCTIONS(CLBIN_NAMED)                     //
      CLBIN_NAMED(CreateKernelsInProgram, programs, optional) //
      CLBIN_NAMED(CloneKernel, programs, optional)            //
      CLBIN_NAMED(RetainKernel, programs, optional)           //
      CLBIN_NAMED(EnqueueNDRangeKernel, programs, optional)   //
      CLBIN_NAMED(EnqueueTask, programs, optional)            //
      CLBIN_NAMED(SetKernelArgSVMPointer, programs, optional) //
      CLBIN_NAMED(SetKernelExecInfo, programs, optional)      //
  };
#undef CLBIN_NAMED
  const auto* const found = std::find_if(std::begin(functions), std::end(functions),
                                         [&](const Named& known) { return known.first == name; });
  return found == std::end(functions) ? nullptr : found->second;
}

base::Result<opencl::Driver> driver_of(const cl_icd_dispatch& table) {
  return opencl::resolve_driver([&](const char* name) { return function_of(table, name); },
                                opencl::TableUse::programs);
}

} // namespace clbin::layer
