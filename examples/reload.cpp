// C++: runs the program `saxpy` of the bundle whose path is the first argument again and again, as
// an application does for each frame, and loads the bundle anew when it changes:
//     oclcc --watch saxpy.cl -o saxpy.clbin &
//     reload saxpy.clbin
// Prints the result of the first frame with each bundle, until it is interrupted.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <chrono>
#include <clbin/opencl.hpp>
#include <iostream>
#include <thread>

namespace {

using Saxpy = cl::KernelFunctor<cl_float, cl::Buffer, cl::Buffer>;

cl_float4 run(Saxpy& saxpy, const cl::Context& context, cl::CommandQueue& queue) {
  cl_float x[] = {1, 2, 3, 4};
  cl_float4 y = {{10, 20, 30, 40}};
  const cl::Buffer x_buffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x);
  const cl::Buffer y_buffer(context, CL_MEM_COPY_HOST_PTR, sizeof y, &y);
  saxpy(cl::EnqueueArgs(queue, cl::NDRange(4)), 2.0F, x_buffer, y_buffer);
  queue.enqueueReadBuffer(y_buffer, CL_TRUE, 0, sizeof y, &y);
  return y;
}

} // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: reload BUNDLE\n";
    return 2;
  }
  const cl::Device device = cl::Device::getDefault();
  const cl::Context context(device);
  cl::CommandQueue queue(context, device);

  auto bundle = clbin::Bundle::open(argv[1]);
  Saxpy saxpy(bundle.load(context, device, "saxpy"), "saxpy");
  bool is_new = true;
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (!bundle.is_current()) {
      try {
        bundle = clbin::Bundle::open(argv[1]);
        saxpy = Saxpy(bundle.load(context, device, "saxpy"), "saxpy");
        is_new = true;
      } catch (const clbin::Error& error) { // keeps the program; the next frame tries again
        std::cerr << "reload: " << error.what() << '\n';
      }
    }
    const cl_float4 y = run(saxpy, context, queue);
    if (is_new) {
      std::cout << y.s[0] << ' ' << y.s[1] << ' ' << y.s[2] << ' ' << y.s[3] << std::endl;
    }
    is_new = false;
  }
} catch (const clbin::Error& error) {
  std::cerr << "reload: " << error.what() << '\n';
  return 1;
} catch (const cl::Error& error) {
  std::cerr << "reload: " << error.what() << ": OpenCL error " << error.err() << '\n';
  return 1;
}
