// The interface to OpenCL. Every call goes through this table, so that tests can use a scripted
// driver and products start without OpenCL installed.
#pragma once

#include "base/result.hpp"

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <functional>
#include <memory>

namespace clbin::opencl {

// Entry points, named as in the specification but without "cl". resolve_driver sets all of them
// except those marked as optional, which may be null.
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

// Fills the table by calling `resolve`, which returns the address of a function such as
// "clGetPlatformIDs", or nullptr. no_opencl: a required function is missing; the message names the
// first one.
[[nodiscard]] base::Result<Driver>
resolve_driver(const std::function<void*(const char* name)>& resolve);

// Opens the ICD loader (libOpenCL.so.1) at run time. The library stays mapped until the process
// exits, because drivers cannot safely be unloaded. no_opencl: the loader cannot be opened, or
// lacks a required function; if it is not installed, the message names its package. Thread-safe.
[[nodiscard]] base::Result<Driver> open_icd_driver();

} // namespace clbin::opencl
