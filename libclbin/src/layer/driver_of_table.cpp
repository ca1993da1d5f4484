#include "layer/served_programs.hpp"

namespace clbin::layer {

opencl::Driver driver_of(const cl_icd_dispatch& table) {
  opencl::Driver driver;
  driver.GetPlatformIDs = table.clGetPlatformIDs;
  driver.GetPlatformInfo = table.clGetPlatformInfo;
  driver.GetDeviceIDs = table.clGetDeviceIDs;
  driver.GetDeviceInfo = table.clGetDeviceInfo;
  driver.CreateContext = table.clCreateContext;
  driver.ReleaseContext = table.clReleaseContext;
  driver.GetContextInfo = table.clGetContextInfo;
  driver.CreateProgramWithSource = table.clCreateProgramWithSource;
  driver.CreateProgramWithBinary = table.clCreateProgramWithBinary;
  driver.BuildProgram = table.clBuildProgram;
  driver.CompileProgram = table.clCompileProgram;
  driver.LinkProgram = table.clLinkProgram;
  driver.CreateProgramWithIL = table.clCreateProgramWithIL;
  driver.SetProgramSpecializationConstant = table.clSetProgramSpecializationConstant;
  driver.GetProgramInfo = table.clGetProgramInfo;
  driver.GetProgramBuildInfo = table.clGetProgramBuildInfo;
  driver.ReleaseProgram = table.clReleaseProgram;
  driver.CreateKernel = table.clCreateKernel;
  driver.ReleaseKernel = table.clReleaseKernel;
  driver.GetKernelInfo = table.clGetKernelInfo;
  driver.GetKernelArgInfo = table.clGetKernelArgInfo;
  driver.GetKernelWorkGroupInfo = table.clGetKernelWorkGroupInfo;
  return driver;
}

} // namespace clbin::layer
