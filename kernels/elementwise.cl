// The first two kernels of the lecture of 2017 (HandsOnOpenCL): one element an item.
//   a, b, c  count elements each
// Launch: at least (count), any group (1024 elements in the source).

// c = a * b, element by element. Source: the lecture's mul.
__kernel void mul(__global const float* a, __global const float* b, __global float* c, int count) {
  const size_t i = get_global_id(0);
  if (i < (size_t)count) {
    c[i] = a[i] * b[i];
  }
}

// c = a + b, element by element. Source: the lecture's vadd.
__kernel void vadd(__global const float* a, __global const float* b, __global float* c, int count) {
  const size_t i = get_global_id(0);
  if (i < (size_t)count) {
    c[i] = a[i] + b[i];
  }
}
