// C = A * B in single precision, register-blocked, vectorised and double-buffered: the product that
// is meant to be fast. Its sizes are macros, so that a variant is a set of -D options:
//   TILE_M x TILE_N  the part of C that a group computes
//   TILE_K           how much of A's columns and B's rows lies in local memory at a time
//   ITEM_M x ITEM_N  the part of that part that an item keeps in registers
//   SERPENTINE       if defined: the order of the multiplications, see add_tile_product
// All are multiples of 4, ITEM_M divides TILE_M, ITEM_N divides TILE_N, and the float4 of a tile
// divide among the items (checked below). A group has TILE_M / ITEM_M * TILE_N / ITEM_N items and
// 8 * TILE_K * (TILE_M + TILE_N) bytes of local memory: 256 and 32 KiB as the file stands.
#include "guarded_load.clh"

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef TILE_K
#define TILE_K 16
#endif
#ifndef ITEM_M
#define ITEM_M 8
#endif
#ifndef ITEM_N
#define ITEM_N 8
#endif

#if TILE_M % ITEM_M || TILE_N % ITEM_N || ITEM_M % 4 || ITEM_N % 4 || TILE_K % 4
#error "sgemm: ITEM_M and ITEM_N must divide TILE_M and TILE_N, and all must be multiples of 4"
#endif

#define ITEMS_DOWN (TILE_M / ITEM_M)
#define ITEMS_ACROSS (TILE_N / ITEM_N)
#define GROUP_ITEMS (ITEMS_DOWN * ITEMS_ACROSS)
#define QUADS_DOWN (ITEM_M / 4)
#define QUADS_ACROSS (ITEM_N / 4)
#define LOADS_A (TILE_M * TILE_K / 4 / GROUP_ITEMS)
#define LOADS_B (TILE_N * TILE_K / 4 / GROUP_ITEMS)

#if (TILE_M * TILE_K / 4) % GROUP_ITEMS || (TILE_N * TILE_K / 4) % GROUP_ITEMS
#error "sgemm: the float4 of the tiles do not divide among the work-items"
#endif

// A's tile is kept transposed, and an item writes four floats of one column of it. Without the
// swizzle the items that share a row of A would all write to the same bank. It leaves the lowest
// three bits of the row alone, so that a float4 stays together.
#if TILE_M % 32 == 0
#define SWIZZLE 24
#elif TILE_M % 16 == 0
#define SWIZZLE 8
#else
#define SWIZZLE 0
#endif
#define SWIZZLED(k, row) ((row) ^ ((k)*2 & SWIZZLE))

// Neighbouring items form blocks of 8 x 4, so that the 32 of a warp read 4 + 8 different float4 a
// step rather than 2 + 16.
#if ITEMS_ACROSS % 8 == 0 && ITEMS_DOWN % 4 == 0
#define ITEM_ACROSS(item) ((item) / 32 % (ITEMS_ACROSS / 8) * 8 + (item) % 8)
#define ITEM_DOWN(item) ((item) / 32 / (ITEMS_ACROSS / 8) * 4 + (item) / 8 % 4)
#else
#define ITEM_ACROSS(item) ((item) % ITEMS_ACROSS)
#define ITEM_DOWN(item) ((item) / ITEMS_ACROSS)
#endif

// Four elements of a row. `whole`: they lie inside the matrix and are aligned to float4.
static inline float4 load_quad(bool whole, __global const float* matrix, size_t row, size_t column,
                               size_t rows, size_t columns) {
  if (whole) {
    return *(const __global float4*)(matrix + row_major(row, column, columns));
  }
  return (float4)(load_or_zero(matrix, row, column, rows, columns),
                  load_or_zero(matrix, row, column + 1, rows, columns),
                  load_or_zero(matrix, row, column + 2, rows, columns),
                  load_or_zero(matrix, row, column + 3, rows, columns));
}

// The item's share of the tile of A (of B) at first_row, first_column: from global memory to
// registers.
static inline void fetch_tile_a(float4 quads[LOADS_A], bool whole, __global const float* A,
                                size_t first_row, size_t first_column, size_t rows,
                                size_t columns) {
#pragma unroll
  for (int load = 0; load < LOADS_A; ++load) {
    const int index = (int)get_local_id(0) + load * GROUP_ITEMS;
    quads[load] = load_quad(whole, A, first_row + index / (TILE_K / 4),
                            first_column + index % (TILE_K / 4) * 4, rows, columns);
  }
}

static inline void fetch_tile_b(float4 quads[LOADS_B], bool whole, __global const float* B,
                                size_t first_row, size_t first_column, size_t rows,
                                size_t columns) {
#pragma unroll
  for (int load = 0; load < LOADS_B; ++load) {
    const int index = (int)get_local_id(0) + load * GROUP_ITEMS;
    quads[load] = load_quad(whole, B, first_row + index / (TILE_N / 4),
                            first_column + index % (TILE_N / 4) * 4, rows, columns);
  }
}

static inline void store_tile_a(__local float* tile, const float4* quads) {
#pragma unroll
  for (int load = 0; load < LOADS_A; ++load) {
    const int index = (int)get_local_id(0) + load * GROUP_ITEMS;
    const int k = index % (TILE_K / 4) * 4;
    const int row = SWIZZLED(k, index / (TILE_K / 4));
    tile[(k + 0) * TILE_M + row] = quads[load].x;
    tile[(k + 1) * TILE_M + row] = quads[load].y;
    tile[(k + 2) * TILE_M + row] = quads[load].z;
    tile[(k + 3) * TILE_M + row] = quads[load].w;
  }
}

static inline void store_tile_b(__local float4* tile, const float4* quads) {
#pragma unroll
  for (int load = 0; load < LOADS_B; ++load) {
    tile[(int)get_local_id(0) + load * GROUP_ITEMS] = quads[load];
  }
}

// Adds the product of the two tiles to the item's sums. Its rows (and columns) are groups of four,
// ITEMS_DOWN * 4 apart, so that the items of a warp read adjacent float4.
// SERPENTINE goes through the columns of each row and back through those of the next, so that a
// multiplication shares an operand with the one before it, which ptxas then keeps beside the
// arithmetic unit: 1.03 times as fast with 16 x 8 sums [H200]. The other order suits vectors of
// four. clang would leave the product of so many elements a function, and the sums in memory, 50
// times as slow; it inlines the other order by itself, later, and then schedules it better.
#ifdef SERPENTINE
#define TILE_PRODUCT __attribute__((always_inline))
#else
#define TILE_PRODUCT
#endif
static inline TILE_PRODUCT void add_tile_product(float4 sums[ITEM_M][QUADS_ACROSS],
                                                 const __local float4* tile_a,
                                                 const __local float4* tile_b) {
  const int item = get_local_id(0);
  const int down = ITEM_DOWN(item);
  const int across = ITEM_ACROSS(item);
#pragma unroll
  for (int k = 0; k < TILE_K; ++k) {
    float4 a[QUADS_DOWN];
    float4 b[QUADS_ACROSS];
#pragma unroll
    for (int quad = 0; quad < QUADS_DOWN; ++quad) {
      const int row = (down + quad * ITEMS_DOWN) * 4;
      a[quad] = tile_a[k * (TILE_M / 4) + SWIZZLED(k, row) / 4];
    }
#pragma unroll
    for (int quad = 0; quad < QUADS_ACROSS; ++quad) {
      b[quad] = tile_b[k * (TILE_N / 4) + across + quad * ITEMS_ACROSS];
    }
#ifdef SERPENTINE
#pragma unroll
    for (int m = 0; m < ITEM_M; ++m) {
#pragma unroll
      for (int step = 0; step < ITEM_N; ++step) {
        const int n = m % 2 == 0 ? step : ITEM_N - 1 - step;
        ((float*)sums[m])[n] += ((const float*)a)[m] * ((const float*)b)[n];
      }
    }
#else
#pragma unroll
    for (int quad = 0; quad < QUADS_DOWN; ++quad) {
#pragma unroll
      for (int n = 0; n < QUADS_ACROSS; ++n) {
        sums[quad * 4 + 0][n] += a[quad].x * b[n];
        sums[quad * 4 + 1][n] += a[quad].y * b[n];
        sums[quad * 4 + 2][n] += a[quad].z * b[n];
        sums[quad * 4 + 3][n] += a[quad].w * b[n];
      }
    }
#endif
  }
}

static inline void write_quad(__global float* C, size_t row, size_t column, size_t columns,
                              float4 quad) {
  const float values[4] = {quad.x, quad.y, quad.z, quad.w};
  for (int i = 0; i < 4 && column + i < columns; ++i) {
    C[row_major(row, column + i, columns)] = values[i];
  }
}

static inline void write_sums(float4 sums[ITEM_M][QUADS_ACROSS], bool whole, __global float* C,
                              size_t first_row, size_t first_column, size_t rows, size_t columns) {
  const int item = get_local_id(0);
#pragma unroll
  for (int m = 0; m < ITEM_M; ++m) {
    const size_t row = first_row + (ITEM_DOWN(item) + m / 4 * ITEMS_DOWN) * 4 + m % 4;
#pragma unroll
    for (int n = 0; n < QUADS_ACROSS; ++n) {
      const size_t column = first_column + (ITEM_ACROSS(item) + n * ITEMS_ACROSS) * 4;
      if (whole) {
        *(__global float4*)(C + row_major(row, column, columns)) = sums[m][n];
      } else if (row < rows) {
        write_quad(C, row, column, columns, sums[m][n]);
      }
    }
  }
}

// C = A * B, row-major: A is M x N, B is N x L, C is M x L. While a tile of each operand is
// multiplied from one half of local memory, the next is on its way to registers; it is then stored
// to the other half, so that a step needs one barrier.
// Launch: groups of GROUP_ITEMS x 1 items, ceil(L / TILE_N) x ceil(M / TILE_M) of them. A group
// inside of C reads and writes float4 where N and L are multiples of 4; others check each element.
// Source: ours, for "really fast" and "autotuning is common".
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
sgemm(int M, int N, int L, __global const float* A, __global const float* B, __global float* C) {
  __local float4 tiles_a[2][TILE_K * TILE_M / 4];
  __local float4 tiles_b[2][TILE_K * TILE_N / 4];
  const size_t first_row = get_group_id(1) * TILE_M;
  const size_t first_column = get_group_id(0) * TILE_N;
  const bool inside = first_row + TILE_M <= (size_t)M && first_column + TILE_N <= (size_t)L &&
                      N % 4 == 0 && L % 4 == 0;

  float4 sums[ITEM_M][QUADS_ACROSS];
#pragma unroll
  for (int m = 0; m < ITEM_M; ++m) {
#pragma unroll
    for (int n = 0; n < QUADS_ACROSS; ++n) {
      sums[m][n] = (float4)(0.0f);
    }
  }

  float4 next_a[LOADS_A];
  float4 next_b[LOADS_B];
  bool whole = inside && TILE_K <= N;
  fetch_tile_a(next_a, whole, A, first_row, 0, M, N);
  fetch_tile_b(next_b, whole, B, 0, first_column, N, L);
  store_tile_a((__local float*)tiles_a[0], next_a);
  store_tile_b(tiles_b[0], next_b);
  barrier(CLK_LOCAL_MEM_FENCE);

  int half_used = 0;
  for (int next = TILE_K; next < N; next += TILE_K) {
    whole = inside && next + TILE_K <= N;
    fetch_tile_a(next_a, whole, A, first_row, next, M, N);
    fetch_tile_b(next_b, whole, B, next, first_column, N, L);
    add_tile_product(sums, tiles_a[half_used], tiles_b[half_used]);
    half_used ^= 1;
    store_tile_a((__local float*)tiles_a[half_used], next_a);
    store_tile_b(tiles_b[half_used], next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  add_tile_product(sums, tiles_a[half_used], tiles_b[half_used]);
  write_sums(sums, inside, C, first_row, first_column, M, L);
}
