// One kernel for each sort of argument. oclcc makes launched.hpp from this file.
typedef struct {
  float scale;
  int shift;
} params_t;

kernel void saxpy(float a, global const float* x, global float* y) {
  const size_t i = get_global_id(0);
  y[i] += a * x[i];
}

kernel void vectors(float4 v, uchar16 bytes, uint n, global float4* out) {
  out[get_global_id(0)] = v * (float)n + bytes.s1;
}

kernel void structs(params_t p, global params_t* every) {
  every[get_global_id(0)] = p;
}

kernel __attribute__((reqd_work_group_size(8, 1, 1))) void
sums(global const int* in, local int* tile, global int* out) {
  const size_t l = get_local_id(0);
  tile[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    int sum = 0;
    for (int i = 0; i < 8; ++i) {
      sum += tile[i];
    }
    out[get_group_id(0)] = sum;
  }
}

kernel void image(read_only image2d_t in, sampler_t how, global float4* out) {
  out[0] = read_imagef(in, how, (int2)(0, 0));
}

// Words of C++ that are names in OpenCL C, and names that launchers use themselves.
kernel void new (global ulong* class, constant int* delete, long queue) {
  class[0] = delete[0] + queue;
}
