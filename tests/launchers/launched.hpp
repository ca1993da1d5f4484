// Made by oclcc --emit=hpp. Each class launches one kernel; oclcc(1), LAUNCHERS.
// clang-format off
#pragma once

#include <clbin/launch.hpp>

// program 'launched'
namespace kernels::launched {

// kernel void image(global read_only image2d_t in, sampler_t how, global float4* out)
class image {
public:
  explicit image(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "image", 3)) {}
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       const cl::Image2D& in,
                       const cl::Sampler& how,
                       const clbin::Buffer<cl_float4>& out) {
    clbin::launcher_v1::set_argument(m_kernel(), 0, "in", in);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "how", how);
    clbin::launcher_v1::set_argument(m_kernel(), 2, "out", out);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {0, 0, 0});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

// kernel void new(global ulong* class, constant const int* delete, long queue)
class new_ {
public:
  explicit new_(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "new", 3)) {}
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       const clbin::Buffer<cl_ulong>& class_,
                       const clbin::Buffer<cl_int>& delete_,
                       clbin::Value<cl_long> queue_) {
    clbin::launcher_v1::set_argument(m_kernel(), 0, "class", class_);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "delete", delete_);
    clbin::launcher_v1::set_argument(m_kernel(), 2, "queue", queue_);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {0, 0, 0});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

// kernel void saxpy(float a, global const float* x, global float* y)
class saxpy {
public:
  explicit saxpy(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "saxpy", 3)) {}
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       clbin::Value<cl_float> a,
                       const clbin::Buffer<cl_float>& x,
                       const clbin::Buffer<cl_float>& y) {
    clbin::launcher_v1::set_argument(m_kernel(), 0, "a", a);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "x", x);
    clbin::launcher_v1::set_argument(m_kernel(), 2, "y", y);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {0, 0, 0});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

// kernel void structs(params_t p, global params_t* every)
class structs {
public:
  explicit structs(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "structs", 2)) {}
  template <typename Type0, typename Type1, clbin::launcher_v1::IfStruct<Type0> = 0>
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       const Type0& p,
                       const clbin::Buffer<Type1>& every) {
    clbin::launcher_v1::set_struct(m_kernel(), 0, "p", p);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "every", every);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {0, 0, 0});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

// kernel void sums(global const int* in, local int* tile, global int* out)
// in work-groups of 8x1x1
class sums {
public:
  explicit sums(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "sums", 3)) {}
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       const clbin::Buffer<cl_int>& in,
                       clbin::Local<cl_int> tile,
                       const clbin::Buffer<cl_int>& out) {
    clbin::launcher_v1::set_argument(m_kernel(), 0, "in", in);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "tile", tile);
    clbin::launcher_v1::set_argument(m_kernel(), 2, "out", out);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {8, 1, 1});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

// kernel void vectors(float4 v, uchar16 bytes, uint n, global float4* out)
class vectors {
public:
  explicit vectors(const cl::Program& program)
      : m_kernel(clbin::launcher_v1::create_kernel(program, "vectors", 4)) {}
  cl::Event operator()(const cl::CommandQueue& queue,
                       const clbin::Launch& launch,
                       clbin::Value<cl_float4> v,
                       clbin::Value<cl_uchar16> bytes,
                       clbin::Value<cl_uint> n,
                       const clbin::Buffer<cl_float4>& out) {
    clbin::launcher_v1::set_argument(m_kernel(), 0, "v", v);
    clbin::launcher_v1::set_argument(m_kernel(), 1, "bytes", bytes);
    clbin::launcher_v1::set_argument(m_kernel(), 2, "n", n);
    clbin::launcher_v1::set_argument(m_kernel(), 3, "out", out);
    return clbin::launcher_v1::enqueue(m_kernel(), queue, launch, {0, 0, 0});
  }

  [[nodiscard]] cl::Kernel& kernel() noexcept { return m_kernel; }

private:
  cl::Kernel m_kernel;
};

} // namespace kernels::launched
