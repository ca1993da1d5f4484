// Opens OpenCL at run time. The demo is not linked with OpenCL, so that it can start and print an
// error if OpenCL is not installed. libclbin receives a resolver that uses the same library.
#pragma once

#include "result.hpp"

// OpenCL 2.0 deprecates clCreateCommandQueue, but every version has it.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

namespace runtime_demo {

struct OpenclFunctions {
  decltype(&clGetPlatformIDs) get_platform_ids = nullptr;
  decltype(&clGetPlatformInfo) get_platform_info = nullptr;
  decltype(&clGetDeviceIDs) get_device_ids = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clReleaseContext) release_context = nullptr;
  decltype(&clCreateCommandQueue) create_command_queue = nullptr;
  decltype(&clReleaseCommandQueue) release_command_queue = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clGetKernelWorkGroupInfo) get_kernel_work_group_info = nullptr;
  decltype(&clSetKernelArg) set_kernel_arg = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clReleaseMemObject) release_mem_object = nullptr;
  decltype(&clEnqueueWriteBuffer) enqueue_write_buffer = nullptr;
  decltype(&clEnqueueReadBuffer) enqueue_read_buffer = nullptr;
  decltype(&clEnqueueNDRangeKernel) enqueue_nd_range_kernel = nullptr;
  decltype(&clFinish) finish = nullptr;
  decltype(&clGetEventProfilingInfo) get_event_profiling_info = nullptr;
  decltype(&clReleaseEvent) release_event = nullptr;
};

// The library stays open until the process exits, because drivers cannot safely be unloaded.
class OpenclLibrary {
public:
  // no_device: there is no ICD loader, or it lacks a function.
  [[nodiscard]] static Result<OpenclLibrary> open();

  [[nodiscard]] const OpenclFunctions& functions() const { return m_functions; }
  // Returns the address of any OpenCL function by its name, or NULL.
  [[nodiscard]] void* resolve(const char* name) const;

private:
  void* m_library = nullptr;
  OpenclFunctions m_functions;
};

// Owns an OpenCL object, together with its release function.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int (*)(Handle)>;

// Returns "clCreateBuffer failed with -61 (CL_INVALID_BUFFER_SIZE)".
[[nodiscard]] std::string describe_failure(const char* function, cl_int code);

} // namespace runtime_demo
