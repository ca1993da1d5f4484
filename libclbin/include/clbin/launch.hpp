// The types that the launchers of "oclcc --emit=hpp" are made of: kernel arguments whose types the
// compiler checks. Header-only, for C++17 and later, over clbin/opencl.hpp. A program that uses it
// links OpenCL. A failure throws clbin::Error with CLBIN_ERROR_OPENCL_CALL; Error::opencl_code()
// returns the code of the OpenCL call.
//
// A launcher owns a cl_kernel and sets its arguments: do not use one from two threads at a time.
#ifndef CLBIN_LAUNCH_HPP
#define CLBIN_LAUNCH_HPP

#include "clbin/opencl.hpp"

#ifdef CLBIN_HAS_CPP_API // otherwise clbin.hpp has reported that C++17 is required

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace clbin {

namespace detail {

inline Error opencl_error(const std::string& what, cl_int code) {
  return Error(CLBIN_ERROR_OPENCL_CALL, what + ": " + std::to_string(code), code);
}

} // namespace detail

// The sizes of a launch. If `local` is empty, the kernel runs with the work-group size that it
// requires, or otherwise with one that the driver chooses.
struct Launch {
  cl::NDRange global;
  cl::NDRange local{};
  cl::NDRange offset{};
  std::vector<cl::Event> wait_for{};
};

// A buffer of objects of type T: the argument of "global T*" and "constant T*". Shares ownership of
// the OpenCL buffer, as cl::Buffer does.
template <typename T>
class Buffer : public cl::Buffer {
public:
  using value_type = T;
  // Declares that an untyped buffer contains objects of type T.
  explicit Buffer(const cl::Buffer& buffer) : cl::Buffer(buffer) {}
  // Creates a buffer for `count` objects. Throws clbin::Error.
  Buffer(const cl::Context& context, cl_mem_flags flags, std::size_t count)
      : cl::Buffer(create(context, flags, count)) {}

private:
  static cl::Buffer create(const cl::Context& context, cl_mem_flags flags, std::size_t count) {
    cl_int code = CL_SUCCESS;
    cl_mem memory = clCreateBuffer(context(), flags, count * sizeof(T), nullptr, &code);
    if (code != CL_SUCCESS) {
      throw detail::opencl_error(
          "clCreateBuffer of " + std::to_string(count * sizeof(T)) + " bytes failed", code);
    }
    return cl::Buffer(memory, false);
  }
};

// Local memory for `count` objects of type T: the argument of "local T*".
template <typename T>
struct Local {
  std::size_t count = 0;
};
// Local memory of a type that C++ has no name for, such as "local void*".
struct LocalBytes {
  std::size_t bytes = 0;
};

namespace detail {

// true if T{from} compiles: braces reject a conversion that can change the value.
template <typename From, typename To, typename = void>
struct ConvertsInBraces : std::false_type {};
template <typename From, typename To>
struct ConvertsInBraces<From, To, std::void_t<decltype(To{std::declval<const From&>()})>>
    : std::true_type {};

template <typename From, typename To>
constexpr bool is_value_for() {
  if constexpr (std::is_same_v<From, To>) {
    return true;
  } else if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To> &&
                       !std::is_same_v<From, bool>) {
    return ConvertsInBraces<From, To>::value;
  } else {
    return false;
  }
}

} // namespace detail

// A number or vector that is passed by value. Accepts a T, or a number whose conversion to T cannot
// change its value: Value<cl_uint> accepts 1U but not 1, Value<cl_float> accepts 1.0F but not 1.0.
template <typename T>
class Value {
public:
  template <typename From, std::enable_if_t<detail::is_value_for<From, T>(), int> = 0>
  Value(const From& value) : m_value(static_cast<T>(value)) {} // NOLINT: implicit by design
  [[nodiscard]] const T& get() const noexcept { return m_value; }

private:
  T m_value;
};

// What generated launchers call. The names of this namespace keep their meaning in every 1.x
// release; a release that needs other ones adds launcher_v2 and keeps this namespace.
namespace launcher_v1 {

// Template parameter that accepts the type of a struct that is passed by value. The compiler cannot
// check its size: most drivers reject a wrong size when the argument is set, PoCL does not.
template <typename T>
using IfStruct = std::enable_if_t<std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                                      !std::is_null_pointer_v<T> && !std::is_array_v<T>,
                                  int>;

inline void check_argument(cl_int code, cl_uint index, const char* name) {
  if (code != CL_SUCCESS) {
    throw detail::opencl_error(
        "argument " + std::to_string(index) + " '" + name + "': clSetKernelArg failed", code);
  }
}

template <typename T>
void set_argument(cl_kernel kernel, cl_uint index, const char* name, const Value<T>& value) {
  check_argument(clSetKernelArg(kernel, index, sizeof(T), &value.get()), index, name);
}
template <typename T>
void set_argument(cl_kernel kernel, cl_uint index, const char* name, const Local<T>& local) {
  check_argument(clSetKernelArg(kernel, index, local.count * sizeof(T), nullptr), index, name);
}
inline void set_argument(cl_kernel kernel, cl_uint index, const char* name,
                         const LocalBytes& local) {
  check_argument(clSetKernelArg(kernel, index, local.bytes, nullptr), index, name);
}
inline void set_argument(cl_kernel kernel, cl_uint index, const char* name,
                         const cl::Memory& memory) {
  const cl_mem object = memory();
  check_argument(clSetKernelArg(kernel, index, sizeof(cl_mem), &object), index, name);
}
inline void set_argument(cl_kernel kernel, cl_uint index, const char* name,
                         const cl::Sampler& sampler) {
  const cl_sampler object = sampler();
  check_argument(clSetKernelArg(kernel, index, sizeof(cl_sampler), &object), index, name);
}
template <typename T, IfStruct<T> = 0>
void set_struct(cl_kernel kernel, cl_uint index, const char* name, const T& value) {
  check_argument(clSetKernelArg(kernel, index, sizeof(T), &value), index, name);
}

// Throws clbin::Error if the program has no such kernel, and with CLBIN_ERROR_CONFLICT if the
// kernel has another number of arguments because the launcher was made from another version of the
// source.
inline cl::Kernel create_kernel(const cl::Program& program, const char* name,
                                cl_uint argument_count) {
  cl_int code = CL_SUCCESS;
  cl::Kernel kernel(clCreateKernel(program(), name, &code), false);
  cl_uint found = 0;
  if (code == CL_SUCCESS) {
    code = clGetKernelInfo(kernel(), CL_KERNEL_NUM_ARGS, sizeof(found), &found, nullptr);
  }
  if (code != CL_SUCCESS) {
    throw detail::opencl_error(std::string("cannot create kernel '") + name + "'", code);
  }
  if (found != argument_count) {
    throw Error(CLBIN_ERROR_CONFLICT, std::string("kernel '") + name + "' has " +
                                          std::to_string(found) + " arguments, its launcher has " +
                                          std::to_string(argument_count));
  }
  return kernel;
}

inline const std::size_t* sizes_of(const cl::NDRange& range) {
  return range.dimensions() == 0 ? nullptr : static_cast<const cl::size_type*>(range);
}

// `required` is the kernel's reqd_work_group_size, or zeros if it has none.
inline cl::Event enqueue(cl_kernel kernel, const cl::CommandQueue& queue, const Launch& launch,
                         const std::array<std::size_t, 3>& required) {
  const std::size_t* local = sizes_of(launch.local);
  if (local == nullptr && required[0] != 0) {
    local = required.data();
  }
  std::vector<cl_event> waits;
  for (const cl::Event& event : launch.wait_for) {
    waits.push_back(event());
  }
  cl_event done = nullptr;
  const cl_int code = clEnqueueNDRangeKernel(
      queue(), kernel, static_cast<cl_uint>(launch.global.dimensions()), sizes_of(launch.offset),
      sizes_of(launch.global), local, static_cast<cl_uint>(waits.size()),
      waits.empty() ? nullptr : waits.data(), &done);
  if (code != CL_SUCCESS) {
    throw detail::opencl_error("clEnqueueNDRangeKernel failed", code);
  }
  return cl::Event(done, false);
}

} // namespace launcher_v1

} // namespace clbin

#endif
#endif
