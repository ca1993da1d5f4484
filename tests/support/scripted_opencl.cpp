// A libOpenCL.so.1 with one device, amplified_device() of support/amplifying_bundles.hpp, whose
// driver accepts every binary. For tests of the command without a driver. Replaces the ICD loader
// if LD_LIBRARY_PATH names its folder. It stores none of its inputs.
#include "support/sample_identities.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

// OpenCL leaves these types to the implementation. There is one platform, device and context.
struct _cl_platform_id {
  void* const* table; // functions, as in objects of an ICD (cl_khr_icd)
};
struct _cl_device_id {};
struct _cl_context {};
struct _cl_program {};
struct _cl_kernel {};

namespace {

constexpr std::string_view k_kernel_name("k", 2); // with its NUL

// Never changed: their addresses are the handles.
void* const the_table[] = {reinterpret_cast<void*>(&clGetPlatformInfo)};
_cl_platform_id the_platform = {the_table};
_cl_device_id the_device;
_cl_context the_context;
_cl_program the_program;
_cl_kernel the_kernel;

cl_int give(std::string_view value, std::size_t size, void* where, std::size_t* size_out) {
  if (size_out != nullptr) {
    *size_out = value.size();
  }
  if (where == nullptr) {
    return CL_SUCCESS;
  }
  if (size < value.size()) {
    return CL_INVALID_VALUE;
  }
  std::memcpy(where, value.data(), value.size());
  return CL_SUCCESS;
}

cl_int give_text(const std::string& text, std::size_t size, void* where, std::size_t* size_out) {
  return give({text.c_str(), text.size() + 1}, size, where, size_out);
}

template <typename T>
cl_int give_value(const T& value, std::size_t size, void* where, std::size_t* size_out) {
  return give({reinterpret_cast<const char*>(&value), sizeof value}, size, where, size_out);
}

template <typename Handle>
cl_int give_handle(Handle handle, cl_uint capacity, Handle* handles, cl_uint* count) {
  if (count != nullptr) {
    *count = 1;
  }
  if (handles != nullptr && capacity > 0) {
    *handles = handle;
  }
  return CL_SUCCESS;
}

template <typename Handle>
Handle succeed(Handle handle, cl_int* code) {
  if (code != nullptr) {
    *code = CL_SUCCESS;
  }
  return handle;
}

} // namespace

cl_int clGetPlatformIDs(cl_uint capacity, cl_platform_id* platforms, cl_uint* count) {
  return give_handle(&the_platform, capacity, platforms, count);
}

cl_int clGetPlatformInfo(cl_platform_id, cl_platform_info name, size_t size, void* value,
                         size_t* size_out) {
  const auto identity = clbin::test::nvidia_identity("sm_90");
  switch (name) {
  case CL_PLATFORM_NAME:
    return give_text(identity.platform_name, size, value, size_out);
  case CL_PLATFORM_VERSION:
    return give_text(identity.platform_version, size, value, size_out);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint capacity, cl_device_id* devices,
                      cl_uint* count) {
  return give_handle(&the_device, capacity, devices, count);
}

cl_int clGetDeviceInfo(cl_device_id, cl_device_info name, size_t size, void* value,
                       size_t* size_out) {
  constexpr cl_device_info k_compute_capability_major = 0x4000;
  constexpr cl_device_info k_compute_capability_minor = 0x4001;
  const auto identity = clbin::test::nvidia_identity("sm_90");
  switch (name) {
  case CL_DEVICE_NAME:
    return give_text(identity.device_name, size, value, size_out);
  case CL_DEVICE_VENDOR:
    return give_text(identity.vendor, size, value, size_out);
  case CL_DRIVER_VERSION:
    return give_text(identity.driver_version, size, value, size_out);
  case CL_DEVICE_VERSION:
    return give_text(identity.device_version, size, value, size_out);
  case CL_DEVICE_OPENCL_C_VERSION:
    return give_text(identity.opencl_c_versions.front(), size, value, size_out);
  case CL_DEVICE_IL_VERSION:
    return give_text("", size, value, size_out);
  case CL_DEVICE_VENDOR_ID:
    return give_value<cl_uint>(identity.vendor_id, size, value, size_out);
  case CL_DEVICE_ADDRESS_BITS:
    return give_value<cl_uint>(identity.address_bits, size, value, size_out);
  case k_compute_capability_major:
    return give_value<cl_uint>(9, size, value, size_out);
  case k_compute_capability_minor:
    return give_value<cl_uint>(0, size, value, size_out);
  case CL_DEVICE_PLATFORM:
    return give_value(&the_platform, size, value, size_out);
  case CL_DEVICE_PARENT_DEVICE:
    return give_value<cl_device_id>(nullptr, size, value, size_out);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_context clCreateContext(const cl_context_properties*, cl_uint, const cl_device_id*,
                           void (*)(const char*, const void*, size_t, void*), void*, cl_int* code) {
  return succeed(&the_context, code);
}

cl_int clReleaseContext(cl_context) {
  return CL_SUCCESS;
}

cl_int clGetContextInfo(cl_context, cl_context_info, size_t, void*, size_t*) {
  return CL_INVALID_VALUE;
}

cl_program clCreateProgramWithSource(cl_context, cl_uint, const char**, const size_t*,
                                     cl_int* code) {
  return succeed(&the_program, code);
}

cl_program clCreateProgramWithBinary(cl_context, cl_uint count, const cl_device_id*, const size_t*,
                                     const unsigned char**, cl_int* statuses, cl_int* code) {
  if (statuses != nullptr) {
    std::fill_n(statuses, count, CL_SUCCESS);
  }
  return succeed(&the_program, code);
}

cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id*, const char*,
                      void (*)(cl_program, void*), void*) {
  return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program, cl_program_info name, size_t size, void* value,
                        size_t* size_out) {
  return name == CL_PROGRAM_KERNEL_NAMES ? give(k_kernel_name, size, value, size_out)
                                         : CL_INVALID_VALUE;
}

cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info name, size_t size,
                             void* value, size_t* size_out) {
  return name == CL_PROGRAM_BUILD_LOG ? give_text("", size, value, size_out) : CL_INVALID_VALUE;
}

cl_int clRetainProgram(cl_program) {
  return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program) {
  return CL_SUCCESS;
}

cl_kernel clCreateKernel(cl_program, const char* name, cl_int* code) {
  if (std::string_view(name) != k_kernel_name.data()) {
    *code = CL_INVALID_KERNEL_NAME;
    return nullptr;
  }
  return succeed(&the_kernel, code);
}

cl_int clReleaseKernel(cl_kernel) {
  return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel, cl_kernel_info, size_t, void*, size_t*) {
  return CL_INVALID_VALUE;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void*,
                                size_t*) {
  return CL_INVALID_VALUE;
}
