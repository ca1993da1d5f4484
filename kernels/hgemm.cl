// C = A * B with matrix units: A and B in half precision, sums and C in single precision. Without a
// matrix unit, loops compute the same. matrix_unit_product.clh lists its sizes.
#include <clbin/matrix.clh>

#define UNIT f16
#define ELEMENT half
#define TILE_ELEMENT ushort
#define TILE_OFFSET clbin_tile_offset
#define PART_K 16
#define PIECE 8
#include "matrix_unit_product.clh"

// C = A * B: see multiply().
// Source: ours, for "OpenCL on NVIDIA beyond NVIDIA's OpenCL".
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
hgemm(int M, int N, int L, const __global ELEMENT* A, const __global ELEMENT* B,
      __global float* C) {
  __local TILE_ELEMENT tiles_a[STAGES][TILE_M * TILE_K] __attribute__((aligned(128)));
  __local TILE_ELEMENT tiles_b[STAGES][TILE_K * TILE_N] __attribute__((aligned(128)));
  multiply(M, N, L, A, B, C, tiles_a, tiles_b);
}
