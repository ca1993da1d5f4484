// The two transpositions of the course notes.
//   out  width x height
//   in   height x width, row-major as out
#include "matrix_index.clh"

#ifndef TILE
#define TILE 16
#endif

// One element an item; reads run along rows, writes jump from row to row.
// Launch: at least (width, height), any group. Source: the notes' transpose_naive (256 x 4096).
__kernel void transpose_naive(__global float* out, __global const float* in, int width,
                              int height) {
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  if (column < (size_t)width && row < (size_t)height) {
    out[row_major(column, row, height)] = in[row_major(row, column, width)];
  }
}

// The same through a tile in local memory, so that reads and writes both run along rows; one
// element more a row keeps the items that read down a column of it in different banks.
// Launch: (width, height) rounded up to 16; groups 16x16. Source: the notes' transpose.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose(__global float* out, __global const float* in, int width, int height) {
  __local float tile[TILE][TILE + 1];
  const size_t first_column = get_group_id(0) * TILE;
  const size_t first_row = get_group_id(1) * TILE;
  const size_t lx = get_local_id(0);
  const size_t ly = get_local_id(1);

  if (first_column + lx < (size_t)width && first_row + ly < (size_t)height) {
    tile[ly][lx] = in[row_major(first_row + ly, first_column + lx, width)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first_row + lx < (size_t)height && first_column + ly < (size_t)width) {
    out[row_major(first_column + ly, first_row + lx, height)] = tile[lx][ly];
  }
}
