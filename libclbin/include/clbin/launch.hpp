// What the launchers that "oclcc --emit=hpp" writes are made of: arguments whose types the compiler
// checks. Header-only, over clbin.hpp and CL/opencl.hpp, which it includes; a program that uses it
// links OpenCL. Failures throw clbin::Error with CLBIN_ERROR_OPENCL_CALL and OpenCL's number.
//
// A launcher holds a cl_kernel and sets its arguments: use one in one thread at a time.
#ifndef CLBIN_LAUNCH_HPP
#define CLBIN_LAUNCH_HPP

#include <CL/opencl.hpp>

#include "clbin/clbin.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace clbin {

// How a kernel runs. Without `local` the size is the one that the kernel requires, else the
// driver's choice.
struct Launch {
  cl::NDRange global;
  cl::NDRange local{};
  cl::NDRange offset{};
  std::vector<cl::Event> wait_for{};
};

// A buffer of Ts: what "global T*" and "constant T*" take. A reference to the buffer, as
// cl::Buffer.
template <typename T>
class Buffer : public cl::Buffer {
public:
  using value_type = T;
  // Says what an untyped buffer holds.
  explicit Buffer(const cl::Buffer& buffer) : cl::Buffer(buffer) {}
  // A new one of `count` Ts. Throws clbin::Error.
  Buffer(const cl::Context& context, cl_mem_flags flags, std::size_t count)
      : cl::Buffer(create(context, flags, count)) {}

private:
  static cl::Buffer create(const cl::Context& context, cl_mem_flags flags, std::size_t count) {
    cl_int code = CL_SUCCESS;
    cl_mem memory = clCreateBuffer(context(), flags, count * sizeof(T), nullptr, &code);
    if (code != CL_SUCCESS) {
      throw Error(CLBIN_ERROR_OPENCL_CALL, "clCreateBuffer of " +
                                               std::to_string(count * sizeof(T)) +
                                               " bytes failed: " + std::to_string(code));
    }
    return cl::Buffer(memory, false);
  }
};

// Local memory for `count` Ts: what "local T*" takes.
template <typename T>
struct Local {
  std::size_t count = 0;
};
// Local memory where the type has no name in C++: what "local void*" and the like take.
struct LocalBytes {
  std::size_t bytes = 0;
};

// The rule of braces in C++: no conversion that may lose something ("Value<cl_uint>" takes 1U, not
// 1; "Value<cl_float>" takes 1.0F, not 1.0); other types only as they are.
template <typename From, typename To>
concept ValueFor = std::same_as<From, To> ||
    (std::is_arithmetic_v<From>&& std::is_arithmetic_v<To> && !std::same_as<From, bool> &&
     requires(const From& value) { To{value}; });

// A number or vector, by value.
template <typename T>
class Value {
public:
  template <ValueFor<T> From>
  Value(const From& value) : m_value(static_cast<T>(value)) {} // NOLINT: implicit by design
  [[nodiscard]] const T& get() const noexcept { return m_value; }

private:
  T m_value;
};

// A struct by value, whose type only the caller has. No compiler tells its size: a driver that
// compares it refuses another one when it is set, PoCL does not compare it.
template <typename T>
concept StructArgument = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                         !std::is_null_pointer_v<T> && !std::is_array_v<T>;

namespace detail {

inline void check_argument(cl_int code, cl_uint index, const char* name) {
  if (code != CL_SUCCESS) {
    throw Error(CLBIN_ERROR_OPENCL_CALL, "argument " + std::to_string(index) + " '" + name +
                                             "': clSetKernelArg failed: " + std::to_string(code));
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
template <StructArgument T>
void set_struct(cl_kernel kernel, cl_uint index, const char* name, const T& value) {
  check_argument(clSetKernelArg(kernel, index, sizeof(T), &value), index, name);
}

// Throws where the program has no such kernel, or one with another number of arguments: then the
// launcher was made of another version of the source.
inline cl::Kernel create_kernel(const cl::Program& program, const char* name,
                                cl_uint argument_count) {
  cl_int code = CL_SUCCESS;
  cl::Kernel kernel(clCreateKernel(program(), name, &code), false);
  cl_uint found = 0;
  if (code == CL_SUCCESS) {
    code = clGetKernelInfo(kernel(), CL_KERNEL_NUM_ARGS, sizeof(found), &found, nullptr);
  }
  if (code != CL_SUCCESS) {
    throw Error(CLBIN_ERROR_OPENCL_CALL,
                std::string("kernel '") + name + "' cannot be made: " + std::to_string(code));
  }
  if (found != argument_count) {
    throw Error(CLBIN_ERROR_CONFLICT, std::string("kernel '") + name + "' has " +
                                          std::to_string(found) + " arguments, its launcher " +
                                          std::to_string(argument_count));
  }
  return kernel;
}

inline const std::size_t* sizes_of(const cl::NDRange& range) {
  return range.dimensions() == 0 ? nullptr : static_cast<const cl::size_type*>(range);
}

// `required` is the kernel's reqd_work_group_size, or zeros.
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
    throw Error(CLBIN_ERROR_OPENCL_CALL, "clEnqueueNDRangeKernel failed: " + std::to_string(code));
  }
  return cl::Event(done, false);
}

} // namespace detail

} // namespace clbin

#endif
