// Runs kernel `scale` of a bundle on the first available device.
#pragma once
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <clbin/opencl.hpp>

#include <iostream>
#include <vector>

inline int run_scale(const clbin::Bundle& bundle) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device device = devices.at(0);
  const cl::Context context(device);
  clbin::Report report;
  const cl::Program program = bundle.load(context, device, "scale", clbin::LoadOptions(), &report);
  cl::CommandQueue queue(context, device);
  std::vector<int> values = {1, 10};
  cl::Buffer buffer(context, CL_MEM_COPY_HOST_PTR, values.size() * sizeof(int), values.data());
  cl::Kernel kernel(program, "scale");
  kernel.setArg(0, buffer);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(values.size()));
  queue.enqueueReadBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(int), values.data());
  std::cout << values[0] << ' ' << values[1]
            << (report.origin() == clbin::Origin::entry ? " from an entry\n"
                                                        : " not from an entry\n");
  return 0;
}
