// Must compile; with WRONG, each call is an error of its own (wrong_arguments.sh).
#include "launched.hpp"

namespace k = kernels::launched;

void launch(const cl::Program& program, const cl::CommandQueue& queue, const cl::Context& context,
            const cl::Sampler& sampler, const cl::Image3D& image3d) {
  const clbin::Launch size = {cl::NDRange(8)};
  const clbin::Buffer<cl_float> floats(context, CL_MEM_READ_WRITE, 8);
  const clbin::Buffer<cl_int> ints(context, CL_MEM_READ_WRITE, 8);
  const cl::Buffer untyped = floats;
  k::saxpy saxpy(program);
  k::sums sums(program);
  k::image image(program);
  k::vectors vectors(program);
  k::structs structs(program);
  [[maybe_unused]] const int number = 1;
  [[maybe_unused]] const cl_float4 vector4 = {};
  [[maybe_unused]] const cl_uchar16 vector16 = {};
#ifndef WRONG
  saxpy(queue, size, 1.0F, floats, floats);
  sums(queue, size, ints, clbin::Local<cl_int>{8}, ints);
  vectors(queue, size, vector4, vector16, cl_uint{1},
          clbin::Buffer<cl_float4>(context, CL_MEM_READ_WRITE, 1));
  structs(queue, size, vector4, floats); // any struct: only OpenCL knows its size
#else
  // a buffer of another type
  saxpy(queue, size, 1.0F, ints, floats);
  // a buffer without a type
  saxpy(queue, size, 1.0F, untyped, floats);
  // a number that could lose digits
  saxpy(queue, size, 1.0, floats, floats);
  // an int for a float
  saxpy(queue, size, number, floats, floats);
  // a buffer for a number
  saxpy(queue, size, floats, floats, floats);
  // the wrong order
  saxpy(queue, size, floats, floats, 1.0F);
  // one too few
  saxpy(queue, size, 1.0F, floats);
  // one too many
  saxpy(queue, size, 1.0F, floats, floats, floats);
  // global for local memory
  sums(queue, size, ints, ints, ints);
  // local memory of another type
  sums(queue, size, ints, clbin::Local<cl_float>{8}, ints);
  // local for global memory
  sums(queue, size, clbin::Local<cl_int>{8}, clbin::Local<cl_int>{8}, ints);
  // an image of other dimensions
  image(queue, size, image3d, sampler, clbin::Buffer<cl_float4>(context, CL_MEM_READ_WRITE, 1));
  // a vector of another type
  vectors(queue, size, vector16, vector16, cl_uint{1},
          clbin::Buffer<cl_float4>(context, CL_MEM_READ_WRITE, 1));
  // a sign that could be lost
  vectors(queue, size, vector4, vector16, number,
          clbin::Buffer<cl_float4>(context, CL_MEM_READ_WRITE, 1));
  // a pointer for a struct
  structs(queue, size, &number, floats);
  // a struct for a buffer
  structs(queue, size, vector4, vector4);
  // a bool for a number
  saxpy(queue, size, true, floats, floats);
#endif
}
