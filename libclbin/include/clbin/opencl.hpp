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

// Returns the size of work-groups that was the fastest for such a launch, for `local` of a launcher
// or of clEnqueueNDRangeKernel; cl::NullRange if nothing is known. See clbin_recommended_size.
[[nodiscard]] inline cl::NDRange
recommended_size(const Bundle& bundle, const cl::Device& device, const std::string& program,
                 const std::string& kernel, const cl::NDRange& global_size,
                 const std::string& variant = "", const LoadOptions& options = LoadOptions()) {
  const View<std::size_t> sizes(static_cast<const cl::size_type*>(global_size),
                                global_size.dimensions());
  const auto local = bundle.recommended_size(device(), program, kernel, sizes, variant, options);
  return local.empty()       ? cl::NullRange
         : local.size() == 1 ? cl::NDRange(local[0])
         : local.size() == 2 ? cl::NDRange(local[0], local[1])
                             : cl::NDRange(local[0], local[1], local[2]);
}

} // namespace clbin

#endif
#endif
