typedef float scalar;
typedef struct { int a; float4 b; } pair;

__attribute__((reqd_work_group_size(8, 4, 2)))
__kernel void every_space(__global const float* restrict in, __global volatile uint* out,
                          __constant uchar4* table, __local float* scratch, const int count,
                          float4 v, pair p, __global pair* ps, __global scalar* s, unsigned long n,
                          unsigned char z) {
  __local float tile[64];
  const size_t i = get_global_id(0);
  tile[get_local_id(0)] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[0] = tile[3] + v.x + p.b.x + ps[0].b.y;
  s[i] = scratch[0] + n + z;
  out[i] = table[count].x;
}

#ifndef NO_IMAGES
__attribute__((work_group_size_hint(16, 1, 1), vec_type_hint(float4)))
__kernel void images(read_only image2d_t in, write_only image2d_t out, sampler_t s,
                     __read_only image3d_t cube) {
  write_imagef(out, (int2)(0, 0),
               read_imagef(in, s, (float2)(0)) + read_imagef(cube, s, (int4)(0)));
}
#endif

__kernel void nothing() {}
