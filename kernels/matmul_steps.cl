// The steps of the lecture of 2017 (HandsOnOpenCL): the same product, each time with more of the
// operands nearer to the processor.
//
// All compute C = A * B, row-major, and begin with the same arguments:
//   Mdim, Ndim, Pdim  columns of C, rows of C, and what A's columns and B's rows have in common
//   A                 Ndim x Pdim
//   B                 Pdim x Mdim
//   C                 Ndim x Mdim
#include "guarded_load.clh"

// How much of a row of A an item keeps in private memory; a longer one is worked off in pieces.
#define PRIVATE_ROW 1024
#define BLOCK 16

// C(i,j) an item; the sum itself lives in global memory, in C.
// Launch: at least (Ndim, Mdim), any group. Source: "C(i,j) per work-item, all global".
__kernel void mat_mul(int Mdim, int Ndim, int Pdim, __global const float* A,
                      __global const float* B, __global float* C) {
  const size_t i = get_global_id(0);
  const size_t j = get_global_id(1);
  if (i >= (size_t)Ndim || j >= (size_t)Mdim) {
    return;
  }
  C[row_major(i, j, Mdim)] = 0.0f;
  for (int k = 0; k < Pdim; ++k) {
    C[row_major(i, j, Mdim)] += A[row_major(i, k, Pdim)] * B[row_major(k, j, Mdim)];
  }
}

// C(i,j) an item, with a private accumulator.
// Launch: at least (Ndim, Mdim), any group. Source: the same, "private accumulator".
__kernel void mat_mul_private(int Mdim, int Ndim, int Pdim, __global const float* A,
                              __global const float* B, __global float* C) {
  const size_t i = get_global_id(0);
  const size_t j = get_global_id(1);
  if (i >= (size_t)Ndim || j >= (size_t)Mdim) {
    return;
  }
  float sum = 0.0f;
  for (int k = 0; k < Pdim; ++k) {
    sum += A[row_major(i, k, Pdim)] * B[row_major(k, j, Mdim)];
  }
  C[row_major(i, j, Mdim)] = sum;
}

// One row of C an item.
// Launch: at least (Ndim), any group, 64 in the source. Source: "C row per work-item, all global".
__kernel void mmul_row(int Mdim, int Ndim, int Pdim, __global const float* A,
                       __global const float* B, __global float* C) {
  const size_t i = get_global_id(0);
  if (i >= (size_t)Ndim) {
    return;
  }
  for (int j = 0; j < Mdim; ++j) {
    float sum = 0.0f;
    for (int k = 0; k < Pdim; ++k) {
      sum += A[row_major(i, k, Pdim)] * B[row_major(k, j, Mdim)];
    }
    C[row_major(i, j, Mdim)] = sum;
  }
}

// One row of C an item, its row of A in private memory.
// Launch: at least (Ndim), any group, 64 in the source. Source: "C row per work-item, A row
// private", whose private row had 1024 elements and no more.
__kernel void mmul_row_private(int Mdim, int Ndim, int Pdim, __global const float* A,
                               __global const float* B, __global float* C) {
  const size_t i = get_global_id(0);
  if (i >= (size_t)Ndim) {
    return;
  }
  float row_of_a[PRIVATE_ROW];
  for (int first = 0; first < Pdim; first += PRIVATE_ROW) {
    const int count = min(PRIVATE_ROW, Pdim - first);
    for (int k = 0; k < count; ++k) {
      row_of_a[k] = A[row_major(i, first + k, Pdim)];
    }
    for (int j = 0; j < Mdim; ++j) {
      float sum = first == 0 ? 0.0f : C[row_major(i, j, Mdim)];
      for (int k = 0; k < count; ++k) {
        sum += row_of_a[k] * B[row_major(first + k, j, Mdim)];
      }
      C[row_major(i, j, Mdim)] = sum;
    }
  }
}

// One row of C an item, its row of A in private memory, the group's column of B in local memory.
//   column_of_b  local memory for min(Pdim, 1024) floats, set by the host
// Launch: (Ndim) rounded up to the group, 64 in the source. Source: "C row per work-item, A
// private, B local". Items below the last row take part in the loads and the barriers.
__kernel void mmul_row_private_column_local(int Mdim, int Ndim, int Pdim, __global const float* A,
                                            __global const float* B, __global float* C,
                                            __local float* column_of_b) {
  const size_t i = get_global_id(0);
  float row_of_a[PRIVATE_ROW];
  for (int first = 0; first < Pdim; first += PRIVATE_ROW) {
    const int count = min(PRIVATE_ROW, Pdim - first);
    for (int k = 0; k < count; ++k) {
      row_of_a[k] = load_or_zero(A, i, first + k, Ndim, Pdim);
    }
    for (int j = 0; j < Mdim; ++j) {
      for (int k = get_local_id(0); k < count; k += get_local_size(0)) {
        column_of_b[k] = B[row_major(first + k, j, Mdim)];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (i < (size_t)Ndim) {
        float sum = first == 0 ? 0.0f : C[row_major(i, j, Mdim)];
        for (int k = 0; k < count; ++k) {
          sum += row_of_a[k] * column_of_b[k];
        }
        C[row_major(i, j, Mdim)] = sum;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

// C(i,j) an item, worked off block by block.
//   block_a, block_b  local memory for 16 * 16 floats each, set by the host
// Launch: (Mdim, Ndim) rounded up to 16; groups 16x16. Source: "block-oriented using local".
__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
mmul_block(int Mdim, int Ndim, int Pdim, __global const float* A, __global const float* B,
           __global float* C, __local float* block_a, __local float* block_b) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);

  float sum = 0.0f;
  for (int first = 0; first < Pdim; first += BLOCK) {
    block_a[row_major(ly, lx, BLOCK)] = load_or_zero(A, i, first + lx, Ndim, Pdim);
    block_b[row_major(ly, lx, BLOCK)] = load_or_zero(B, first + ly, j, Pdim, Mdim);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < BLOCK; ++k) {
      sum += block_a[row_major(ly, k, BLOCK)] * block_b[row_major(k, lx, BLOCK)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < (size_t)Ndim && j < (size_t)Mdim) {
    C[row_major(i, j, Mdim)] = sum;
  }
}
