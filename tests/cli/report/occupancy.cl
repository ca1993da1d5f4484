// Kernels whose occupancy is limited by different resources of AMD's processors. No built-in
// function: clang compiles them without a library.
#define SIZE(x) __attribute__((reqd_work_group_size(x, 1, 1)))
#define ITEM __builtin_amdgcn_workitem_id_x()

kernel SIZE(256) void waves(global float* a) { a[ITEM] += 1; }

kernel SIZE(64) void work_groups(global float* a) { a[ITEM] += 1; }

kernel SIZE(256) void local_memory(global float* a) {
  local float tile[5000];
  for (int k = ITEM; k < 5000; k += 256) {
    tile[k] = a[k];
  }
  __builtin_amdgcn_s_barrier();
  a[ITEM] = tile[(ITEM * 7 + (int)a[0]) % 5000];
}

// `count` vectors are live in the loop.
#define LIVE(count)                                                                                \
  float4 x[count];                                                                                 \
  _Pragma("unroll") for (int i = 0; i < count; ++i) { x[i] = a[i * n]; }                           \
  for (int k = 0; k < n; ++k) {                                                                    \
    _Pragma("unroll") for (int i = 0; i < count; ++i) {                                            \
      x[i] = x[i] * x[(i + 5) % count] + a[k];                                                     \
    }                                                                                              \
  }                                                                                                \
  _Pragma("unroll") for (int i = 0; i < count; ++i) { a[i * n] = x[i]; }

kernel SIZE(128) void few_registers(global float4* a, int n) { LIVE(9) }
kernel SIZE(256) void many_registers(global float4* a, int n) { LIVE(24) }
