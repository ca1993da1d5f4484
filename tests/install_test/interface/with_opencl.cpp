// Includes every C++ header of clbin, and CL/opencl.hpp last.
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <clbin/clbin.hpp>
#include <clbin/launch.hpp>
#include <clbin/opencl.hpp>

#include <CL/opencl.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

std::size_t group_count(const clbin::Bundle& bundle);

cl::Program load(const clbin::Bundle& bundle, const cl::Context& context,
                 const std::vector<cl::Device>& devices) {
  return devices.size() == 1 ? bundle.load(context, devices[0], "p")
                             : bundle.load(context, devices, "p");
}

cl::Program build(const clbin::Builder& builder, const cl::Context& context,
                  const std::vector<cl::Device>& devices) {
  return devices.size() == 1 ? builder.build(context, devices[0], "kernel void k() {}")
                             : builder.build(context, devices, {"kernel void k() {}", "-w"});
}

cl::Program build(const cl::Context& context, const cl::Device& device) {
  return clbin::build(context, device, "kernel void k() {}");
}

cl_program load_raw(const clbin::Bundle& bundle, cl_context context,
                    const std::vector<cl_device_id>& devices) {
  return devices.size() == 1 ? bundle.load(context, devices[0], "p")
                             : bundle.load(context, devices, "p");
}

// Prints the number of groups in the bundle, read from a file and from memory.
int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    std::cout << group_count(clbin::Bundle::open(argv[1])) << ' '
              << group_count(clbin::Bundle::from_memory(bytes.data(), bytes.size())) << '\n';
    (void)clbin::Bundle::open("/nowhere");
  } catch (const clbin::Error& error) {
    std::cout << error.what() << ' ' << error.opencl_code() << '\n';
  }
}
