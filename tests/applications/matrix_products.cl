// Each kernel computes c = 2 * (a * b + c + c) with one team, from global memory, from local
// memory, or from tiles with lines of 32 elements.
#include <clbin/matrix.clh>

#define ITEMS __attribute__((reqd_work_group_size(CLBIN_MATRIX_ITEMS, 1, 1)))
#define STRIDE(order, rows, columns) (order == CLBIN_ROWS ? columns : rows)
#define FINISH(NAME)                                                                               \
  clbin_multiply_add_##NAME(&sum, &a, &b);                                                         \
  for (int i = 0; i < CLBIN_MATRIX_ELEMENTS; ++i) {                                                \
    sum.elements[i] = (sum.elements[i] + c.elements[i]) * 2;                                       \
  }

#define TEST(NAME, K, MEMORY, SUM)                                                                 \
  __kernel ITEMS void NAME##_global(const __global MEMORY* A, const __global MEMORY* B,            \
                                    __global SUM* C, int of_a, int of_b, int of_c) {               \
    clbin_a_##NAME a;                                                                              \
    clbin_b_##NAME b;                                                                              \
    clbin_c_##NAME c;                                                                              \
    clbin_load_a_##NAME(&a, A, STRIDE(of_a, 16, K), of_a);                                         \
    clbin_load_b_##NAME(&b, B, STRIDE(of_b, K, 16), of_b);                                         \
    clbin_load_c_##NAME(&c, C, 16, of_c);                                                          \
    clbin_c_##NAME sum = c;                                                                        \
    FINISH(NAME)                                                                                   \
    clbin_store_##NAME(&sum, C, 16, of_c);                                                         \
  }                                                                                                \
  __kernel ITEMS void NAME##_local(                                                                \
      const __global MEMORY* A, const __global MEMORY* B, __global SUM* C, int of_a, int of_b,     \
      int of_c, __local MEMORY* near_a, __local MEMORY* near_b, __local SUM* near_c) {             \
    const int item = (int)get_local_id(0);                                                         \
    for (int i = item; i < 16 * K * (int)sizeof(MEMORY); i += CLBIN_MATRIX_ITEMS) {                \
      ((__local char*)near_a)[i] = ((const __global char*)A)[i];                                   \
      ((__local char*)near_b)[i] = ((const __global char*)B)[i];                                   \
    }                                                                                              \
    for (int i = item; i < 256; i += CLBIN_MATRIX_ITEMS) {                                         \
      near_c[i] = C[i];                                                                            \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    clbin_a_##NAME a;                                                                              \
    clbin_b_##NAME b;                                                                              \
    clbin_c_##NAME c;                                                                              \
    clbin_load_a_##NAME##_local(&a, near_a, STRIDE(of_a, 16, K), of_a);                            \
    clbin_load_b_##NAME##_local(&b, near_b, STRIDE(of_b, K, 16), of_b);                            \
    clbin_load_c_##NAME##_local(&c, near_c, 16, of_c);                                             \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    clbin_c_##NAME sum = c;                                                                        \
    FINISH(NAME)                                                                                   \
    clbin_store_##NAME##_local(&sum, near_c, 16, of_c);                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    for (int i = item; i < 256; i += CLBIN_MATRIX_ITEMS) {                                         \
      C[i] = near_c[i];                                                                            \
    }                                                                                              \
  }
TEST(f16, 16, half, float)
TEST(bf16, 16, ushort, float)
TEST(tf32, 8, float, float)
TEST(s8, 32, char, int)
#ifdef cl_khr_fp64
TEST(f64, 4, double, double)
#endif

// a is in the middle of a tile of 32 lines, b at the end of another. PIECE elements have 16 bytes.
#define TEST_TILES(NAME, K, MEMORY, TILE, OFFSET, PIECE, B_LENGTH)                                 \
  __kernel ITEMS void NAME##_tiles(const __global MEMORY* A, const __global MEMORY* B,             \
                                   __global float* C, int of_a, int of_b, int of_c) {              \
    __local TILE tile_a[32 * 32] __attribute__((aligned(16)));                                     \
    __local TILE tile_b[32 * B_LENGTH] __attribute__((aligned(16)));                               \
    const uint a_pieces = STRIDE(of_a, 16, K) / PIECE;                                             \
    const uint b_pieces = STRIDE(of_b, K, 16) / PIECE;                                             \
    for (uint i = (uint)get_local_id(0); i < 16 * K / PIECE; i += CLBIN_MATRIX_ITEMS) {            \
      clbin_copy_async(tile_a + OFFSET(8 + i / a_pieces, 16 + i % a_pieces * PIECE, 32),           \
                       A + i * PIECE);                                                             \
      clbin_copy_commit();                                                                         \
      clbin_copy_async(tile_b + OFFSET(16 + i / b_pieces, i % b_pieces * PIECE, B_LENGTH),         \
                       B + i * PIECE);                                                             \
      clbin_copy_commit();                                                                         \
    }                                                                                              \
    clbin_copy_wait(0);                                                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    clbin_a_##NAME a;                                                                              \
    clbin_b_##NAME b;                                                                              \
    clbin_c_##NAME c;                                                                              \
    clbin_load_a_##NAME##_tile(&a, tile_a, 8, 16, 32, of_a);                                       \
    clbin_load_b_##NAME##_tile(&b, tile_b, 16, 0, B_LENGTH, of_b);                                 \
    clbin_load_c_##NAME(&c, C, 16, of_c);                                                          \
    clbin_c_##NAME sum;                                                                            \
    clbin_fill_##NAME(&sum, 1);                                                                    \
    for (int i = 0; i < CLBIN_MATRIX_ELEMENTS; ++i) {                                              \
      sum.elements[i] *= c.elements[i];                                                            \
    }                                                                                              \
    FINISH(NAME)                                                                                   \
    clbin_store_##NAME(&sum, C, 16, of_c);                                                         \
  }
TEST_TILES(f16, 16, half, ushort, clbin_tile_offset, 8, 32)
TEST_TILES(bf16, 16, ushort, ushort, clbin_tile_offset, 8, 32)
TEST_TILES(tf32, 8, float, float, clbin_tile_offset_tf32, 4, 16)

__kernel void units(__global int* units) {
  units[0] = CLBIN_MATRIX_UNITS_f16;
  units[1] = CLBIN_MATRIX_UNITS_bf16;
  units[2] = CLBIN_MATRIX_UNITS_tf32;
  units[3] = CLBIN_MATRIX_UNITS_s8;
  units[4] = CLBIN_MATRIX_UNITS_f64;
  units[5] = CLBIN_MATRIX_ITEMS;
}
