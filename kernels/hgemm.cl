// C = A * B with matrix units: A and B in half precision, sums and C in single precision. Without a
// matrix unit, loops compute the same. Its sizes are macros, so that a variant is a set of -D
// options:
//   TILE_M x TILE_N  the part of C that a group computes
//   TILE_K           how much of A's columns and B's rows lies in local memory at a time
//   TEAM_M x TEAM_N  the part of that part that a team of work-items keeps in registers
//   STAGES           how many tiles of A and of B local memory has: all but one are on their way
// TILE_K is a power of 2 of at least 32, TILE_N of at least 16, the others multiples of 16. TEAM_M
// divides TILE_M, TEAM_N divides TILE_N, and the groups of 8 elements of a tile divide among the
// items of a group. A group has 2 * STAGES * TILE_K * (TILE_M + TILE_N) bytes of local memory: 48
// KiB as the file stands, all that NVIDIA's OpenCL gives a group.
#include <clbin/matrix.clh>

#include "matrix_index.clh"

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef TILE_K
#define TILE_K 32
#endif
// Loops are not unrolled, and have smaller parts, because compilers for CPUs take minutes
// otherwise.
#if CLBIN_MATRIX_UNITS_f16
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
#ifndef TEAM_M
#define TEAM_M 64
#endif
#ifndef TEAM_N
#define TEAM_N (CLBIN_MATRIX_UNITS_f16 ? 64 : 32)
#endif
#ifndef STAGES
#define STAGES 3
#endif

#define TEAMS_ACROSS (TILE_N / TEAM_N)
#define GROUP_ITEMS (TILE_M / TEAM_M * TEAMS_ACROSS * CLBIN_MATRIX_ITEMS)
#define PARTS_DOWN (TEAM_M / 16)
#define PARTS_ACROSS (TEAM_N / 16)
#define BAND 8

#if TILE_M % TEAM_M || TILE_N % TEAM_N || TEAM_M % 16 || TEAM_N % 16 || TILE_K % 32 ||             \
    TILE_K & (TILE_K - 1) || TILE_N & (TILE_N - 1) || STAGES < 2 ||                                \
    TILE_M * TILE_K / 8 % GROUP_ITEMS || TILE_K * TILE_N / 8 % GROUP_ITEMS ||                      \
    32 * TILE_N * (TILE_M / TEAM_M) > STAGES * TILE_M * TILE_K
#error "hgemm: see the sizes at the beginning of the file; 16 rows of a team fit in its tiles"
#endif

// Copies the tile of a matrix of rows x columns halves that begins at first_row, first_column;
// zeros stand for what is outside. `whole`: nothing is, and eight halves of a row are aligned.
static inline void fetch_tile(__local ushort* tile, uint height, uint width, bool whole,
                              const __global half* matrix, size_t first_row, size_t first_column,
                              size_t rows, size_t columns) {
  if (whole) {
    const __global half* from = matrix + row_major(first_row, first_column, columns);
    UNROLL for (uint i = 0; i < height * width / 8 / GROUP_ITEMS; ++i) {
      const uint piece = get_local_id(0) + i * GROUP_ITEMS;
      const uint row = piece / (width / 8);
      const uint column = piece % (width / 8) * 8;
      clbin_copy_async(tile + clbin_tile_offset(row, column, width),
                       from + row_major(row, column, columns));
    }
    return;
  }
  const __global ushort* bits = (const __global ushort*)matrix;
  for (uint i = get_local_id(0); i < height * width; i += GROUP_ITEMS) {
    const size_t row = first_row + i / width;
    const size_t column = first_column + i % width;
    tile[clbin_tile_offset(i / width, i % width, width)] =
        row < rows && column < columns ? bits[row_major(row, column, columns)] : 0;
  }
}

// Writes 16 of a team's rows at the edge of C, by way of 64 * TEAM_N bytes of local memory.
static inline void write_edge(const clbin_c_f16 parts[PARTS_ACROSS], __local float* near_rows,
                              __global float* C, size_t first_row, size_t first_column, size_t rows,
                              size_t columns) {
  UNROLL for (int n = 0; n < PARTS_ACROSS; ++n) {
    clbin_store_f16_local(&parts[n], near_rows + n * 16, TEAM_N, CLBIN_ROWS);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0) % CLBIN_MATRIX_ITEMS; i < 16 * TEAM_N; i += CLBIN_MATRIX_ITEMS) {
    const size_t row = first_row + i / TEAM_N;
    const size_t column = first_column + i % TEAM_N;
    if (row < rows && column < columns) {
      C[row_major(row, column, columns)] = near_rows[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The registers of a team for a step of 16: of a part of TEAM_M rows of A and TEAM_N columns of B.
typedef struct {
  clbin_a_f16 a[PARTS_DOWN];
  clbin_b_f16 b[PARTS_ACROSS];
} Parts;

static inline __attribute__((always_inline)) void
load_parts(Parts* parts, const __local ushort* tile_a, const __local ushort* tile_b, uint team_row,
           uint team_column, int k) {
  UNROLL for (int m = 0; m < PARTS_DOWN; ++m) {
    clbin_load_a_f16_tile(&parts->a[m], tile_a, team_row + m * 16, k, TILE_K, CLBIN_ROWS);
  }
  UNROLL for (int n = 0; n < PARTS_ACROSS; ++n) {
    clbin_load_b_f16_tile(&parts->b[n], tile_b, k, team_column + n * 16, TILE_N, CLBIN_ROWS);
  }
}

// Adds the products of a group's tiles to its sums. While a step multiplies, the registers of the
// next one are read, and the next STAGES - 1 tiles are on their way. Behind the last step, those
// that are read are not used. `whole` is a constant, because a branch in the loop would cost a
// quarter of its speed.
static inline __attribute__((always_inline)) void
add_products(clbin_c_f16 sums[PARTS_DOWN][PARTS_ACROSS], bool whole,
             __local ushort tiles_a[STAGES][TILE_M * TILE_K],
             __local ushort tiles_b[STAGES][TILE_K * TILE_N], const __global half* A,
             const __global half* B, size_t first_row, size_t first_column, int M, int N, int L) {
  const uint team = get_local_id(0) / CLBIN_MATRIX_ITEMS;
  const uint team_row = team / TEAMS_ACROSS * TEAM_M;
  const uint team_column = team % TEAMS_ACROSS * TEAM_N;
  UNROLL for (int stage = 0; stage < STAGES - 1; ++stage) {
    if (stage * TILE_K < N) {
      const int k = stage * TILE_K;
      fetch_tile(tiles_a[stage], TILE_M, TILE_K, whole, A, first_row, k, M, N);
      fetch_tile(tiles_b[stage], TILE_K, TILE_N, whole, B, k, first_column, N, L);
    }
    clbin_copy_commit();
  }
  Parts parts[2];
  clbin_copy_wait(STAGES - 2);
  barrier(CLK_LOCAL_MEM_FENCE);
  load_parts(&parts[0], tiles_a[0], tiles_b[0], team_row, team_column, 0);

  int used = 0;
  for (int step = 0; step < N; step += TILE_K) {
    const int next = step + (STAGES - 1) * TILE_K;
    const int stage = used == 0 ? STAGES - 1 : used - 1;
    UNROLL for (int k = 0; k < TILE_K; k += 16) {
      if (k == TILE_K - 16) {
        used = used == STAGES - 1 ? 0 : used + 1;
        clbin_copy_wait(STAGES - 2);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      const int now = k / 16 % 2;
      load_parts(&parts[1 - now], tiles_a[used], tiles_b[used], team_row, team_column,
                 (k + 16) % TILE_K);
      if (k == 0) {
        if (next < N) {
          fetch_tile(tiles_a[stage], TILE_M, TILE_K, whole, A, first_row, next, M, N);
          fetch_tile(tiles_b[stage], TILE_K, TILE_N, whole, B, next, first_column, N, L);
        }
        clbin_copy_commit();
      }
      UNROLL for (int m = 0; m < PARTS_DOWN; ++m) {
        UNROLL for (int n = 0; n < PARTS_ACROSS; ++n) {
          clbin_multiply_add_f16(&sums[m][n], &parts[now].a[m], &parts[now].b[n]);
        }
      }
    }
  }
  clbin_copy_wait(0);
}

// C = A * B, row-major: A is M x N, B is N x L, C is M x L.
// Launch: groups of GROUP_ITEMS x 1 items, ceil(L / TILE_N) x ceil(M / TILE_M) of them. Groups with
// neighbouring numbers work in bands of BAND rows of tiles, so that they share what the cache has.
// A group inside of C copies 16 bytes at a time where N is a multiple of TILE_K, and L of 8; others
// check each element.
// Source: ours, for "OpenCL on NVIDIA beyond NVIDIA's OpenCL".
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
hgemm(int M, int N, int L, const __global half* A, const __global half* B, __global float* C) {
  __local ushort tiles_a[STAGES][TILE_M * TILE_K] __attribute__((aligned(128)));
  __local ushort tiles_b[STAGES][TILE_K * TILE_N] __attribute__((aligned(128)));

  const uint across = get_num_groups(0);
  const uint group = get_group_id(1) * across + get_group_id(0);
  const uint band = group / (BAND * across) * BAND;
  const uint height = min((uint)get_num_groups(1) - band, (uint)BAND);
  const uint in_band = group - band * across;
  const size_t first_row = (size_t)(band + in_band % height) * TILE_M;
  const size_t first_column = (size_t)(in_band / height) * TILE_N;

  clbin_c_f16 sums[PARTS_DOWN][PARTS_ACROSS];
  UNROLL for (int m = 0; m < PARTS_DOWN; ++m) {
    UNROLL for (int n = 0; n < PARTS_ACROSS; ++n) {
      clbin_fill_f16(&sums[m][n], 0.0f);
    }
  }
  const bool inside = first_row + TILE_M <= (size_t)M && first_column + TILE_N <= (size_t)L;
  const bool whole = inside && N % TILE_K == 0 && L % 8 == 0;
  if (CLBIN_MATRIX_UNITS_f16 && whole) {
    add_products(sums, true, tiles_a, tiles_b, A, B, first_row, first_column, M, N, L);
  } else {
    add_products(sums, whole, tiles_a, tiles_b, A, B, first_row, first_column, M, N, L);
  }
  barrier(CLK_LOCAL_MEM_FENCE); // write_edge() uses the tiles

  const uint team = get_local_id(0) / CLBIN_MATRIX_ITEMS;
  const size_t column = first_column + team % TEAMS_ACROSS * TEAM_N;
  UNROLL for (int m = 0; m < PARTS_DOWN; ++m) {
    const size_t row = first_row + team / TEAMS_ACROSS * TEAM_M + m * 16;
    if (inside) {
      UNROLL for (int n = 0; n < PARTS_ACROSS; ++n) {
        clbin_store_f16(&sums[m][n], C + row_major(row, column + n * 16, L), L, CLBIN_ROWS);
      }
    } else {
      write_edge(sums[m], (__local float*)tiles_a + team * 16 * TEAM_N, C, row, column, M, L);
    }
  }
}
