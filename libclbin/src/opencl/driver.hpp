// The seam between us and OpenCL: every call goes through this table, so that tests can script a
// driver and a product without OpenCL installed still starts.
#pragma once

#include "base/result.hpp"

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <functional>
#include <memory>

namespace clbin::opencl {

// Entry points, named as in the specification without "cl". All are set after resolve_driver but
// those said to be optional.
struct Driver {
  decltype(&::clGetPlatformIDs) GetPlatformIDs = nullptr;
  decltype(&::clGetPlatformInfo) GetPlatformInfo = nullptr;
  decltype(&::clGetDeviceIDs) GetDeviceIDs = nullptr;
  decltype(&::clGetDeviceInfo) GetDeviceInfo = nullptr;
  decltype(&::clCreateContext) CreateContext = nullptr;
  decltype(&::clReleaseContext) ReleaseContext = nullptr;
  decltype(&::clGetContextInfo) GetContextInfo = nullptr;
  decltype(&::clCreateProgramWithSource) CreateProgramWithSource = nullptr;
  decltype(&::clCreateProgramWithBinary) CreateProgramWithBinary = nullptr;
  decltype(&::clBuildProgram) BuildProgram = nullptr;
  decltype(&::clCompileProgram) CompileProgram = nullptr;           // optional: OpenCL 1.2
  decltype(&::clLinkProgram) LinkProgram = nullptr;                 // optional: OpenCL 1.2
  decltype(&::clCreateProgramWithIL) CreateProgramWithIL = nullptr; // optional: OpenCL 2.1
  decltype(&::clSetProgramSpecializationConstant) SetProgramSpecializationConstant =
      nullptr; // optional: OpenCL 2.2
  decltype(&::clGetProgramInfo) GetProgramInfo = nullptr;
  decltype(&::clGetProgramBuildInfo) GetProgramBuildInfo = nullptr;
  decltype(&::clReleaseProgram) ReleaseProgram = nullptr;
  decltype(&::clCreateKernel) CreateKernel = nullptr;
  decltype(&::clReleaseKernel) ReleaseKernel = nullptr;
  decltype(&::clGetKernelInfo) GetKernelInfo = nullptr;
  decltype(&::clGetKernelArgInfo) GetKernelArgInfo = nullptr; // optional: OpenCL 1.2
  decltype(&::clGetKernelWorkGroupInfo) GetKernelWorkGroupInfo = nullptr;
};

// Fills the table from `resolve`, which maps "clGetPlatformIDs" to its address or nullptr.
// no_opencl, naming the first function that is missing.
[[nodiscard]] base::Result<Driver>
resolve_driver(const std::function<void*(const char* name)>& resolve);

// Opens the ICD loader (libOpenCL.so.1) at run time. The library stays mapped until the process
// ends: drivers do not survive being unloaded. no_opencl, with what to install. Thread-safe.
[[nodiscard]] base::Result<Driver> open_icd_driver();

} // namespace clbin::opencl
