// C = A * B with matrix units: A, B and C in single precision. NVIDIA's matrix units multiply
// elements rounded to tf32, which has 11 significant bits; AMD's, and loops where there is no
// matrix unit, multiply floats. matrix_unit_product.clh lists its sizes.
#include <clbin/matrix.clh>

#define UNIT tf32
#define ELEMENT float
#define TILE_ELEMENT float
#define TILE_OFFSET clbin_tile_offset_tf32
#define PART_K 8
#define PIECE 4
#include "matrix_unit_product.clh"

// C = A * B: see multiply().
// Source: ours, for "OpenCL on NVIDIA beyond NVIDIA's OpenCL".
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
tf32gemm(int M, int N, int L, const __global ELEMENT* A, const __global ELEMENT* B,
         __global float* C) {
  __local TILE_ELEMENT tiles_a[STAGES][TILE_M * TILE_K] __attribute__((aligned(128)));
  __local TILE_ELEMENT tiles_b[STAGES][TILE_K * TILE_N] __attribute__((aligned(128)));
  multiply(M, N, L, A, B, C, tiles_a, tiles_b);
}
