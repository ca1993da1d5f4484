// clbin.hpp behind CL/opencl.hpp: cl::Program out, cl::Context and cl::Device in, on the drivers of
// this machine, through the ICD loader that the library opens itself.
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>

#include "clbin/clbin.hpp"

#include "support/sample_bundle.hpp"

#include <gtest/gtest.h>

namespace clbin {
namespace {

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::vector<cl::Device> result;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    result.insert(result.end(), devices.begin(), devices.end());
  }
  return result;
}

TEST(ClbinHppWithOpenCl, LoadsIntoClProgram) {
  const std::vector<cl::Device> devices = all_devices();
  if (devices.empty()) {
    GTEST_SKIP() << "this machine has no OpenCL device";
  }
  const base::Bytes bytes = test::sample_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  for (const cl::Device& device : devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    Report report;
    cl::Program program = bundle.load(context, device, "saxpy", LoadOptions(), &report);
    EXPECT_EQ(report.origin(), Origin::source) << report.text();
    cl_int code = CL_SUCCESS;
    const cl::Kernel kernel(program, "saxpy", &code);
    EXPECT_EQ(code, CL_SUCCESS);
    // Drivers differ in whether a kernel counts.
    const cl::Program bare(context, "kernel void saxpy(global float* a) { *a = 1; }");
    EXPECT_EQ(bare.build(std::vector<cl::Device>{device}), CL_SUCCESS);
    const cl::Kernel bare_kernel(bare, "saxpy", &code);
    EXPECT_EQ(program.getInfo<CL_PROGRAM_REFERENCE_COUNT>(),
              bare.getInfo<CL_PROGRAM_REFERENCE_COUNT>());

    cl::Program several = bundle.load(context, std::vector<cl::Device>{device}, "saxpy");
    EXPECT_NE(several(), nullptr);
  }
}

} // namespace
} // namespace clbin
