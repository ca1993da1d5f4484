// OpenCL, opened at run time: the demo links no OpenCL, so that it starts and says so where none is
// installed. The same table is what libclbin gets as its resolver.
#pragma once

#include "result.hpp"

// clCreateCommandQueue is deprecated by 2.0, but it is what every version has.
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

// Stays open until the process ends: drivers do not survive being unloaded.
class OpenclLibrary {
public:
  // no_device: there is no ICD loader, or it lacks a function.
  [[nodiscard]] static Result<OpenclLibrary> open();

  [[nodiscard]] const OpenclFunctions& functions() const { return m_functions; }
  // Any OpenCL function by its name, or NULL.
  [[nodiscard]] void* resolve(const char* name) const;

private:
  void* m_library = nullptr;
  OpenclFunctions m_functions;
};

// An OpenCL object that is released with the function it was made with.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int (*)(Handle)>;

// "clCreateBuffer failed with -61 (CL_INVALID_BUFFER_SIZE)"
[[nodiscard]] std::string describe_failure(const char* function, cl_int code);

} // namespace runtime_demo
