// The two products of the case study, in column-major order as its numerical package had them.
//
// Both compute MResp = M1 * M2 and share a signature:
//   MResp  q[0] x q[2]
//   M1     q[0] x q[1]
//   M2     q[1] x q[2]
//   q      three ints in global memory
#include "matrix_index.clh"

#define TILE 8

static inline float load_or_zero_column_major(__global const float* matrix, size_t row,
                                              size_t column, size_t rows, size_t columns) {
  return row < rows && column < columns ? matrix[column_major(row, column, rows)] : 0.0f;
}

// One element of MResp an item, every operand from global memory.
// Launch: at least (q[0], q[2]), any group. Source: the case study's floatMatrixMult.
__kernel void floatMatrixMult(__global float* MResp, __global const float* M1,
                              __global const float* M2, __global const int* q) {
  const size_t row = get_global_id(0);
  const size_t column = get_global_id(1);
  const size_t rows = q[0];
  const size_t inner = q[1];
  if (row >= rows || column >= (size_t)q[2]) {
    return;
  }
  float sum = 0.0f;
  for (size_t k = 0; k < inner; ++k) {
    sum += M1[column_major(row, k, rows)] * M2[column_major(k, column, inner)];
  }
  MResp[column_major(row, column, rows)] = sum;
}

// One element of MResp an item, 8x8 tiles of both operands in local memory. M1's tile is stored
// transposed, so that both tiles are read along their rows, four products at a time.
// Launch: (q[0], q[2]) rounded up to 8; groups 8x8. Source: the case study's
// floatMatrixMultLocals, which took multiples of 8 only.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
floatMatrixMultLocals(__global float* MResp, __global const float* M1, __global const float* M2,
                      __global const int* q) {
  __local float4 tile_1[TILE][TILE / 4];
  __local float4 tile_2[TILE][TILE / 4];
  const size_t row = get_global_id(0);
  const size_t column = get_global_id(1);
  const size_t rows = q[0];
  const size_t inner = q[1];
  const size_t columns = q[2];
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);

  float4 sums = (float4)(0.0f);
  for (size_t first = 0; first < inner; first += TILE) {
    ((__local float*)tile_1[lx])[ly] = load_or_zero_column_major(M1, row, first + ly, rows, inner);
    ((__local float*)tile_2[ly])[lx] =
        load_or_zero_column_major(M2, first + lx, column, inner, columns);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE / 4; ++k) {
      sums += tile_1[lx][k] * tile_2[ly][k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) {
    MResp[column_major(row, column, rows)] = sums.x + sums.y + sums.z + sums.w;
  }
}
