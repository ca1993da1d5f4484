// C++: builds a program whose source is known only at run time, and runs it. The argument is a
// number. The next start takes the program from the user cache, except on PoCL, or from app.clbin
// if there is one.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <clbin/opencl.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: build NUMBER\n";
    return 2;
  }
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  cl::CommandQueue queue(context, device);

  const clbin::Builder builder;
  builder.add_file("app.clbin", clbin::Presence::optional);
  const std::string text =
      "kernel void scale(global float* v) { v[get_global_id(0)] *= " + std::string(argv[1]) + "; }";
  clbin::Source source(text);
  source.label = "scale";
  clbin::Report report;
  const cl::Program program = builder.build(context, device, source, clbin::LoadOptions(), &report);
  std::cerr << report.text();

  cl_float v[] = {1, 2, 3, 4};
  const cl::Buffer buffer(context, CL_MEM_COPY_HOST_PTR, sizeof v, v);
  cl::KernelFunctor<cl::Buffer> scale(program, "scale");
  scale(cl::EnqueueArgs(queue, cl::NDRange(4)), buffer);
  queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof v, v);
  std::cout << v[0] << ' ' << v[1] << ' ' << v[2] << ' ' << v[3] << '\n';
} catch (const clbin::Error& error) {
  std::cerr << "build: " << error.what() << '\n';
  return 1;
} catch (const cl::Error& error) {
  std::cerr << "build: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
