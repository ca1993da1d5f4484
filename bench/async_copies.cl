// Asynchronous copies of every type, and kernels that compute while the next tile is copied. The
// variants of async_copies.sh set TYPE. Run by async_copies.cpp.
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#ifdef TYPE
// Through local memory: the elements from `from + skip` on, to the same places of `to`.
kernel void contiguous(const global TYPE* from, global TYPE* to, local TYPE* near, uint count,
                       uint skip, uint near_skip) {
  event_t event = async_work_group_copy(near + near_skip, from + skip, count, 0);
  wait_group_events(1, &event);
  event = async_work_group_copy(to + skip, near + near_skip, count, 0);
  wait_group_events(1, &event);
}

kernel void strided(const global TYPE* from, global TYPE* to, local TYPE* near, uint count,
                    uint skip, uint near_skip) {
  const size_t stride = 3;
  event_t event = async_work_group_strided_copy(near + near_skip, from + skip, count, stride, 0);
  wait_group_events(1, &event);
  event = async_work_group_strided_copy(to + skip, near + near_skip, count, stride, 0);
  wait_group_events(1, &event);
}
#else

// A group computes on tiles of 1,024 numbers, and copies the next meanwhile. OFFSET 1 leaves the
// tiles aligned to 4 bytes only.
#define TILE 1024
float used(local const float* tile, uint steps) {
  float sum = 0;
  for (uint i = get_local_id(0); i < TILE; i += get_local_size(0)) {
    float x = tile[i];
    for (uint step = 0; step < steps; ++step) {
      x = fma(x, 0.75f, 0.25f);
    }
    sum += x;
  }
  return sum;
}

void stream(global const float* from, global float* to, local float (*tiles)[TILE], uint count,
            uint steps) {
  from += (size_t)get_group_id(0) * TILE * count;
  event_t event = async_work_group_copy(tiles[0], from, TILE, 0);
  float sum = 0;
  for (uint tile = 0; tile < count; ++tile) {
    wait_group_events(1, &event);
    if (tile + 1 < count) {
      event = async_work_group_copy(tiles[(tile + 1) % 2], from + (tile + 1) * TILE, TILE, 0);
    }
    sum += used(tiles[tile % 2], steps);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  to[get_global_id(0)] = sum;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
stream_copy_only(global const float* from, global float* to, uint size) {
  local float tiles[2][TILE];
  stream(from, to, tiles, size, 0);
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
stream_balanced(global const float* from, global float* to, uint size) {
  local float tiles[2][TILE];
  stream(from, to, tiles, size, 32);
}
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
stream_unaligned(global const float* from, global float* to, uint size) {
  local float tiles[2][TILE];
  stream(from + 1, to, tiles, size, 32);
}

// C = A B of `size` squared numbers, by groups of 16 x 16 items that have 64 x 64 results, with
// tiles that are copied row by row: by asynchronous copies, or by the items themselves.
#define SIDE 64
#define DEPTH 16
void product(global const float* a, global float* c, uint size, local float (*of_a)[SIDE],
             local float (*of_b)[SIDE], int is_async) {
  global const float* b = a + (size_t)size * size;
  const uint row = get_group_id(1) * SIDE;
  const uint column = get_group_id(0) * SIDE;
  const uint item = get_local_id(1) * 16 + get_local_id(0);
  float sums[4][4] = {{0}};
  for (uint start = 0; start < size; start += DEPTH) {
    if (is_async) {
      event_t event = 0;
      for (uint k = 0; k < DEPTH; ++k) { // A is stored by columns
        event = async_work_group_copy(of_a[k], a + (size_t)(start + k) * size + row, SIDE, event);
        event =
            async_work_group_copy(of_b[k], b + (size_t)(start + k) * size + column, SIDE, event);
      }
      wait_group_events(1, &event);
    } else {
      for (uint i = item; i < SIDE * DEPTH; i += 256) {
        const uint k = i / SIDE;
        of_a[k][i % SIDE] = a[(size_t)(start + k) * size + row + i % SIDE];
        of_b[k][i % SIDE] = b[(size_t)(start + k) * size + column + i % SIDE];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint k = 0; k < DEPTH; ++k) {
      for (uint i = 0; i < 4; ++i) {
        for (uint j = 0; j < 4; ++j) {
          sums[i][j] += of_a[k][get_local_id(1) * 4 + i] * of_b[k][get_local_id(0) * 4 + j];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = 0; i < 4; ++i) {
    for (uint j = 0; j < 4; ++j) {
      c[(size_t)(row + get_local_id(1) * 4 + i) * size + column + get_local_id(0) * 4 + j] =
          sums[i][j];
    }
  }
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
product_by_rows(global const float* from, global float* to, uint size) {
  local float of_a[DEPTH][SIDE], of_b[DEPTH][SIDE];
  product(from, to, size, of_a, of_b, 1);
}
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
product_by_items(global const float* from, global float* to, uint size) {
  local float of_a[DEPTH][SIDE], of_b[DEPTH][SIDE];
  product(from, to, size, of_a, of_b, 0);
}
#endif
