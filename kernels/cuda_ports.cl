// Ported from the CUDA lecture: the product in double precision, naive and tiled, and the dot
// product, by one item and by many.
#include "guarded_load.clh"

#ifndef TILE
#define TILE 16
#endif
#ifndef REDUCTION
#define REDUCTION 1024
#endif

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// C = A * B in double precision, row-major: A is M x N, B is N x L, C is M x L. One element an
// item. Launch: at least (L, M), any group. Source: the lecture's matMul (64 x 62 x 64).
__kernel void matMul(__global const double* A, __global const double* B, __global double* C, int M,
                     int N, int L) {
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  if (row >= (size_t)M || column >= (size_t)L) {
    return;
  }
  double sum = 0.0;
  for (int k = 0; k < N; ++k) {
    sum += A[row_major(row, k, N)] * B[row_major(k, column, L)];
  }
  C[row_major(row, column, L)] = sum;
}

// The same, with 16x16 tiles of both operands in local memory.
// Launch: (L, M) rounded up to 16; groups 16x16. Source: the lecture's tiled matMul.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matMul_tiled(__global const double* A, __global const double* B, __global double* C, int M, int N,
             int L) {
  __local double tile_a[TILE][TILE];
  __local double tile_b[TILE][TILE];
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);

  double sum = 0.0;
  for (int first = 0; first < N; first += TILE) {
    tile_a[ly][lx] = load_or_zero_double(A, row, first + lx, M, N);
    tile_b[ly][lx] = load_or_zero_double(B, first + ly, column, N, L);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) {
      sum += tile_a[ly][k] * tile_b[k][lx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < (size_t)M && column < (size_t)L) {
    C[row_major(row, column, L)] = sum;
  }
}
#endif

// The dot product of a and b, N elements each, written to result[0] by the first item alone.
// Launch: one item suffices. Source: the lecture's dotProduct by one thread (N = 10 000).
__kernel void dotProduct(__global const float* a, __global const float* b, __global float* result,
                         int N) {
  if (get_global_id(0) != 0) {
    return;
  }
  float sum = 0.0f;
  for (int i = 0; i < N; ++i) {
    sum += a[i] * b[i];
  }
  result[0] = sum;
}

// The group's part of the dot product of a and b, N elements each, written to partial_sums[group];
// the host adds these. Every item strides over the vectors by the size of the launch, then the
// group adds its sums as a tree.
// Launch: any number of groups, of at most 1024 items. Source: the lecture's tiled dotProduct.
__kernel void dotProduct_tiled(__global const float* a, __global const float* b,
                               __global float* partial_sums, int N) {
  __local float sums[REDUCTION];
  const size_t item = get_local_id(0);
  float sum = 0.0f;
  for (size_t i = get_global_id(0); i < (size_t)N; i += get_global_size(0)) {
    sum += a[i] * b[i];
  }
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);

  // The halves are rounded up, so that a group need not be a power of two.
  for (size_t count = get_local_size(0); count > 1;) {
    const size_t half_count = (count + 1) / 2;
    if (item + half_count < count) {
      sums[item] += sums[item + half_count];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    count = half_count;
  }
  if (item == 0) {
    partial_sums[get_group_id(0)] = sums[0];
  }
}
