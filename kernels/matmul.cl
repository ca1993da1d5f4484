// The three products of the OpenCL/CUDA blog of 2009, "Matrix Multiplication" 1 to 3.
//
// All three compute C = A * B, row-major, and share a signature:
//   C   rows x wB
//   A   rows x wA
//   B   wA x wB
//   wA  columns of A and rows of B
//   wB  columns of B and C
// The number of rows is no argument: it is the size of the launch in dimension 1, which has to be
// exactly that. Dimension 0 may be larger than wB (to be a multiple of the group's width).
#include "guarded_load.clh"

#ifndef TILE
#define TILE 16
#endif

// One work-group computes all of C, finding its elements by local ids: each item takes the columns
// lx, lx + width of the group, and so on, of the row ly.
// Launch: one group of any width, as high as C has rows. Source: "Matrix Multiplication 1" (3x3).
__kernel void matrixMul_local_ids(__global float* C, __global const float* A,
                                  __global const float* B, int wA, int wB) {
  const size_t row = get_local_id(1);
  for (size_t column = get_local_id(0); column < (size_t)wB; column += get_local_size(0)) {
    float sum = 0.0f;
    for (int k = 0; k < wA; ++k) {
      sum += A[row_major(row, k, wA)] * B[row_major(k, column, wB)];
    }
    C[row_major(row, column, wB)] = sum;
  }
}

// One element of C an item, found by global ids; every operand comes from global memory.
// Launch: (wB rounded up, rows); any group, 16x16 in the source. Source: "Matrix Multiplication 2".
__kernel void matrixMul_global_ids(__global float* C, __global const float* A,
                                   __global const float* B, int wA, int wB) {
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  if (column >= (size_t)wB) {
    return;
  }
  float sum = 0.0f;
  for (int k = 0; k < wA; ++k) {
    sum += A[row_major(row, k, wA)] * B[row_major(k, column, wB)];
  }
  C[row_major(row, column, wB)] = sum;
}

// One element of C an item; the group walks along A's rows and down B's columns in steps of TILE,
// keeping both tiles in local memory: one barrier when they are filled, one when they are used.
// Launch: (wB rounded up to 16, rows); groups 16 wide and at most 16 high (a height that divides
// the rows). Source: "Matrix Multiplication 3" (16x16 groups).
__kernel void matrixMul_tiled(__global float* C, __global const float* A, __global const float* B,
                              int wA, int wB) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  const size_t rows = get_global_size(1);
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);

  float sum = 0.0f;
  for (int first = 0; first < wA; first += TILE) {
    tile_a[ly][lx] = load_or_zero(A, row, first + lx, rows, wA);
    for (size_t k = ly; k < TILE; k += get_local_size(1)) {
      tile_b[k][lx] = load_or_zero(B, first + k, column, wA, wB);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) {
      sum += tile_a[ly][k] * tile_b[k][lx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (column < (size_t)wB) {
    C[row_major(row, column, wB)] = sum;
  }
}
