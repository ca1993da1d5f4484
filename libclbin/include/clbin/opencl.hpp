// clbin.hpp for programs that use CL/opencl.hpp, which it includes: Bundle::load accepts
// cl::Context and cl::Device, or a std::vector of cl::Device, and returns a cl::Program.
//
//     auto bundle = clbin::Bundle::open("kernels.clbin");
//     cl::Program program = bundle.load(context, device, "matmul");
//
// Define the CL_HPP_ macros before the first include of CL/opencl.hpp, as always.
#ifndef CLBIN_OPENCL_HPP
#define CLBIN_OPENCL_HPP

#include "clbin/clbin.hpp"

#ifdef CLBIN_HAS_CPP_API // otherwise clbin.hpp has reported that C++17 is required

#include <CL/opencl.hpp>

namespace clbin::detail {

template <>
struct OpenClBinding<cl::Context> {
  using Program = cl::Program;
  using Devices = cl::vector<cl::Device>; // of a list in braces

  static _cl_context* handle(const cl::Context& context) { return context(); }
  static _cl_device_id* handles(const cl::Device& device) { return device(); }
  static std::vector<_cl_device_id*> handles(const cl::vector<cl::Device>& devices) {
    std::vector<_cl_device_id*> handles;
    handles.reserve(devices.size());
    for (const cl::Device& device : devices) {
      handles.push_back(device());
    }
    return handles;
  }
};

} // namespace clbin::detail

namespace clbin {

// Asks a device for its identity, as a load does. Only the resolver of `options` is used.
[[nodiscard]] inline Identity query_identity(const cl::Device& device,
                                             const LoadOptions& options = LoadOptions()) {
  return query_identity(device(), options);
}

} // namespace clbin

#endif
#endif
