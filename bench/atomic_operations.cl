// Atomic operations of many work-items on few cells. -D options give TYPE and ATOMIC (int and
// atomic_int, …), ORDER and SCOPE (relaxed, device, …) of explicit functions, or none of both for
// OpenCL 1.2's, UNIT, with which an operation changes several bytes, and NEAR for cells in local
// memory. atomic_operations.cpp launches 256 groups of 256 items: 32 of these share a cell, each
// has a bit of its own.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#ifdef SCOPE
#define HOW JOINED(memory_order_, ORDER), JOINED(memory_scope_, SCOPE)
#define FETCH(NAME, cell, x) atomic_fetch_##NAME##_explicit(cell, x, HOW)
#define EXCHANGE(cell, x) atomic_exchange_explicit(cell, x, HOW)
#define CELL volatile ATOMIC
#define is_relaxed 1
#define is_acq_rel 2
#define is_seq_cst 3
#define ORDER_NUMBER JOINED(is_, ORDER)
// The orders of a load and of a store.
#if ORDER_NUMBER == is_acq_rel
#define LOAD_ORDER memory_order_acquire
#define STORE_ORDER memory_order_release
#else
#define LOAD_ORDER JOINED(memory_order_, ORDER)
#define STORE_ORDER LOAD_ORDER
#endif
#else
#ifdef IS_LONG
#define FETCH(NAME, cell, x) atom_##NAME(cell, x)
#define EXCHANGE(cell, x) atom_xchg(cell, x)
#define COMPARE_EXCHANGE atom_cmpxchg
#else
#define FETCH(NAME, cell, x) atomic_##NAME(cell, x)
#define EXCHANGE(cell, x) atomic_xchg(cell, x)
#define COMPARE_EXCHANGE atomic_cmpxchg
#endif
#define CELL volatile TYPE
#endif

#define is_sub_group 1
#define is_work_group 2
#define is_device 3
#define is_all_devices 4
#ifdef SCOPE
#define SCOPE_NUMBER JOINED(is_, SCOPE)
#else
#define SCOPE_NUMBER is_device
#endif

typedef struct {
  uint cell;
  uint bit;
} Place;

// Those that share a cell are a sub-group, every eighth of a group, or of different groups.
static Place place(void) {
  const uint item = (uint)get_local_id(0);
  const uint all = (uint)get_global_id(0);
#if SCOPE_NUMBER == is_sub_group
  return (Place){all / 32, item % 32};
#elif SCOPE_NUMBER == is_work_group || defined(NEAR)
  return (Place){(uint)get_group_id(0) * 8 + item % 8, item / 8};
#else
  return (Place){all % 2048, all / 2048};
#endif
}

// A kernel is a function of cells in SPACE, and what calls it. Those in local memory are copied
// from and to those in global memory. Behind CELLS cells are as many others.
#define RUN(NAME, SPACE)                                                                           \
  static void run_##NAME(SPACE CELL* cells, __global TYPE* held, __global uint* errors,            \
                         uint steps, Place at)
#ifdef NEAR
#define CELLS 8
#define KERNEL(NAME)                                                                               \
  RUN(NAME, __local);                                                                              \
  __kernel void NAME(__global TYPE* cells, __global TYPE* held, __global uint* errors,             \
                     uint steps) {                                                                 \
    __local CELL near_cells[2 * CELLS];                                                            \
    const uint item = (uint)get_local_id(0);                                                       \
    const uint first = (uint)get_group_id(0) * CELLS;                                              \
    if (item < CELLS) {                                                                            \
      *(volatile __local TYPE*)&near_cells[item] = cells[first + item];                            \
      *(volatile __local TYPE*)&near_cells[CELLS + item] = 0;                                      \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    Place at = place();                                                                            \
    at.cell -= first;                                                                              \
    run_##NAME(near_cells, held, errors, steps, at);                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (item < CELLS) {                                                                            \
      cells[first + item] = *(volatile __local TYPE*)&near_cells[item];                            \
    }                                                                                              \
  }                                                                                                \
  RUN(NAME, __local)
#else
#define CELLS 2048
#define KERNEL(NAME)                                                                               \
  RUN(NAME, __global);                                                                             \
  __kernel void NAME(__global CELL* cells, __global TYPE* held, __global uint* errors,             \
                     uint steps) {                                                                 \
    run_##NAME(cells, held, errors, steps, place());                                               \
  }                                                                                                \
  RUN(NAME, __global)
#endif

static void count(__global uint* errors, bool is_wrong) {
  if (is_wrong) {
    atomic_inc(errors);
  }
}

// Each item adds a number of its own.
KERNEL(add) {
  for (uint i = 0; i < steps; ++i) {
    FETCH(add, &cells[at.cell], (TYPE)(at.bit + 1) * UNIT);
  }
}
KERNEL(sub) {
  for (uint i = 0; i < steps; ++i) {
    FETCH(sub, &cells[at.cell], (TYPE)(at.bit + 1) * UNIT);
  }
}

// Only this item changes its bit: an operation finds what the one before has left.
KERNEL(bits) {
  const TYPE bit = (TYPE)1 << at.bit;
  for (uint i = 0; i < steps; i += 4) {
    count(errors, (FETCH(or, &cells[at.cell], bit) & bit) != 0);
    count(errors, (FETCH(and, &cells[at.cell], ~bit) & bit) != bit);
    count(errors, (FETCH(xor, &cells[at.cell], bit) & bit) != 0);
    count(errors, (FETCH(xor, &cells[at.cell], bit) & bit) != bit);
  }
  FETCH(or, &cells[at.cell], bit);
}

// A cell never becomes less than what this item has given to it.
KERNEL(maximum) {
  TYPE last = (TYPE)at.bit;
  FETCH(max, &cells[at.cell], last);
  for (uint i = 1; i < steps; ++i) {
    const TYPE next = (TYPE)i * 64 + (TYPE)(at.bit + i) % 64;
    count(errors, FETCH(max, &cells[at.cell], next) < last);
    last = next;
  }
}
KERNEL(minimum) {
  TYPE last = (TYPE)-1 / 2 - (TYPE)at.bit;
  FETCH(min, &cells[at.cell], last);
  for (uint i = 1; i < steps; ++i) {
    const TYPE next = (TYPE)-1 / 2 - (TYPE)i * 64 - (TYPE)(at.bit + i) % 64;
    count(errors, FETCH(min, &cells[at.cell], next) > last);
    last = next;
  }
}

// Numbers change places: none is lost, and none is there twice.
KERNEL(exchange) {
  TYPE mine = (TYPE)get_global_id(0) + 1;
  for (uint i = 0; i < steps; ++i) {
    mine = EXCHANGE(&cells[at.cell], mine);
  }
  held[get_global_id(0)] = mine;
}

#ifdef SCOPE
#define COMPARE(STRENGTH, old, next)                                                               \
  atomic_compare_exchange_##STRENGTH##_explicit(&cells[at.cell], old, next, HOW_COMPARED)
#define HOW_COMPARED JOINED(memory_order_, ORDER), LOAD_ORDER, JOINED(memory_scope_, SCOPE)
KERNEL(compare_strong) {
  TYPE old = 0;
  for (uint i = 0; i < steps; ++i) {
    while (!COMPARE(strong, &old, old + UNIT)) {
    }
  }
}
KERNEL(compare_weak) {
  TYPE old = 0;
  for (uint i = 0; i < steps; ++i) {
    while (!COMPARE(weak, &old, old + UNIT)) {
    }
  }
}

// One item writes the cell, the others read it.
KERNEL(load_store) {
  TYPE last = 0;
  for (uint i = 1; i <= steps; ++i) {
    if (at.bit == 0) {
      atomic_store_explicit(&cells[at.cell], (TYPE)i * UNIT, STORE_ORDER,
                            JOINED(memory_scope_, SCOPE));
      continue;
    }
    const TYPE next =
        atomic_load_explicit(&cells[at.cell], LOAD_ORDER, JOINED(memory_scope_, SCOPE));
    count(errors, next < last || next % UNIT != 0);
    last = next;
  }
}

#if ORDER_NUMBER != is_relaxed
// Who sees the number of a message sees the message, too.
KERNEL(message) {
  for (uint i = 1; i <= steps; ++i) {
    if (at.bit == 0) {
      atomic_store_explicit(&cells[CELLS + at.cell], (TYPE)i, memory_order_relaxed,
                            JOINED(memory_scope_, SCOPE));
      atomic_store_explicit(&cells[at.cell], (TYPE)i, STORE_ORDER, JOINED(memory_scope_, SCOPE));
    } else {
      const TYPE number =
          atomic_load_explicit(&cells[at.cell], LOAD_ORDER, JOINED(memory_scope_, SCOPE));
      count(errors, atomic_load_explicit(&cells[CELLS + at.cell], memory_order_relaxed,
                                         JOINED(memory_scope_, SCOPE)) < number);
    }
  }
}
#endif
#else
KERNEL(compare_strong) {
  TYPE old = 0;
  for (uint i = 0; i < steps; ++i) {
    TYPE expected = old;
    while ((old = COMPARE_EXCHANGE(&cells[at.cell], expected, expected + UNIT)) != expected) {
      expected = old;
    }
  }
}
#endif
