#include "opencl_functions.hpp"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace runtime_demo {

namespace {

struct NamedCode {
  cl_int code;
  std::string_view name;
};

constexpr std::array k_codes{
    NamedCode{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    NamedCode{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    NamedCode{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    NamedCode{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    NamedCode{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    NamedCode{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    NamedCode{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    NamedCode{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    NamedCode{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    NamedCode{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    NamedCode{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    NamedCode{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    NamedCode{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    NamedCode{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    NamedCode{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
};

template <class Function>
bool take(void* library, const char* name, Function& function, std::string& missing) {
  void* const address = dlsym(library, name);
  if (address == nullptr) {
    missing = name;
    return false;
  }
  function = reinterpret_cast<Function>(address);
  return true;
}

bool take_all(void* library, OpenclFunctions& table, std::string& missing) {
  const auto from = [&](const char* name, auto& function) {
    return take(library, name, function, missing);
  };
  return from("clGetPlatformIDs", table.get_platform_ids) &&
         from("clGetPlatformInfo", table.get_platform_info) &&
         from("clGetDeviceIDs", table.get_device_ids) &&
         from("clGetDeviceInfo", table.get_device_info) &&
         from("clCreateContext", table.create_context) &&
         from("clReleaseContext", table.release_context) &&
         from("clCreateCommandQueue", table.create_command_queue) &&
         from("clReleaseCommandQueue", table.release_command_queue) &&
         from("clReleaseProgram", table.release_program) &&
         from("clCreateKernel", table.create_kernel) &&
         from("clReleaseKernel", table.release_kernel) &&
         from("clGetKernelWorkGroupInfo", table.get_kernel_work_group_info) &&
         from("clSetKernelArg", table.set_kernel_arg) &&
         from("clCreateBuffer", table.create_buffer) &&
         from("clReleaseMemObject", table.release_mem_object) &&
         from("clEnqueueWriteBuffer", table.enqueue_write_buffer) &&
         from("clEnqueueReadBuffer", table.enqueue_read_buffer) &&
         from("clEnqueueNDRangeKernel", table.enqueue_nd_range_kernel) &&
         from("clFinish", table.finish) &&
         from("clGetEventProfilingInfo", table.get_event_profiling_info) &&
         from("clReleaseEvent", table.release_event);
}

} // namespace

Result<OpenclLibrary> OpenclLibrary::open() {
  OpenclLibrary opened;
  opened.m_library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (opened.m_library == nullptr) {
    return failure(ExitCode::no_device,
                   "cannot open libOpenCL.so.1: install an OpenCL loader (ocl-icd-libopencl1) and "
                   "a driver (pocl-opencl-icd)");
  }
  std::string missing;
  if (!take_all(opened.m_library, opened.m_functions, missing)) {
    return failure(ExitCode::no_device, fmt::format("libOpenCL.so.1 has no {}", missing));
  }
  return opened;
}

void* OpenclLibrary::resolve(const char* name) const {
  return dlsym(m_library, name);
}

std::string describe_failure(const char* function, cl_int code) {
  for (const NamedCode& known : k_codes) {
    if (known.code == code) {
      return fmt::format("{} failed with {} ({})", function, code, known.name);
    }
  }
  return fmt::format("{} failed with {}", function, code);
}

} // namespace runtime_demo
