// The 16x16 tiled product of kernels/matmul.cl alone, which first_launch.py measures.
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
tiled_product(__global float* c, __global const float* a, __global const float* b, int n) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    tile_a[ly][lx] = a[row * n + first + lx];
    tile_b[ly][lx] = b[(first + ly) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) {
      sum += tile_a[ly][k] * tile_b[k][lx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
