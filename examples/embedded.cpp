// C++ with nothing beside the program: the bundle is part of it, and a launcher, which
// `oclcc saxpy.cl -o saxpy.hpp` writes, lets the C++ compiler check a kernel's arguments.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include "saxpy.h"
#include "saxpy.hpp"
#include <iostream>

int main() try {
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);

  const auto bundle = clbin::Bundle::from_memory(saxpy_clbin, saxpy_clbin_size);
  kernels::saxpy::saxpy saxpy(bundle.load(context, device, "saxpy"));

  const cl_float x[] = {1, 2, 3, 4};
  cl_float y[] = {10, 20, 30, 40};
  clbin::Buffer<cl_float> x_buffer(context, CL_MEM_READ_ONLY, 4);
  clbin::Buffer<cl_float> y_buffer(context, CL_MEM_READ_WRITE, 4);
  queue.enqueueWriteBuffer(x_buffer, CL_TRUE, 0, sizeof x, x);
  queue.enqueueWriteBuffer(y_buffer, CL_TRUE, 0, sizeof y, y);
  saxpy(queue, {cl::NDRange(4)}, 2.0F, x_buffer, y_buffer); // work-items, then saxpy's arguments
  queue.enqueueReadBuffer(y_buffer, CL_TRUE, 0, sizeof y, y);
  std::cout << y[0] << ' ' << y[1] << ' ' << y[2] << ' ' << y[3] << '\n';
} catch (const clbin::Error& error) {
  std::cerr << "embedded: " << error.what() << '\n';
  return 1;
} catch (const cl::Error& error) {
  std::cerr << "embedded: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
