// C++: loads the program `saxpy` from the bundle whose path is the first argument, runs it, and
// prints which entry of the bundle was used.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <clbin/opencl.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: load BUNDLE\n";
    return 2;
  }
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  cl::CommandQueue queue(context, device);

  const auto bundle = clbin::Bundle::open(argv[1]);
  clbin::Report report;
  const cl::Program program = bundle.load(context, device, "saxpy", clbin::LoadOptions(), &report);
  std::cerr << report.text();

  cl_float x[] = {1, 2, 3, 4};
  cl_float y[] = {10, 20, 30, 40};
  const cl::Buffer x_buffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x);
  const cl::Buffer y_buffer(context, CL_MEM_COPY_HOST_PTR, sizeof y, y);
  cl::KernelFunctor<cl_float, cl::Buffer, cl::Buffer> saxpy(program, "saxpy");
  saxpy(cl::EnqueueArgs(queue, cl::NDRange(4)), 2.0F, x_buffer, y_buffer);
  queue.enqueueReadBuffer(y_buffer, CL_TRUE, 0, sizeof y, y);
  std::cout << y[0] << ' ' << y[1] << ' ' << y[2] << ' ' << y[3] << '\n';
} catch (const clbin::Error& error) {
  std::cerr << "load: " << error.what() << '\n';
  return 1;
} catch (const cl::Error& error) {
  std::cerr << "load: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
