// Work-item functions. NVIDIA's driver splits large launches and passes the rest of a work-item's
// position in %envreg0 to %envreg9: the first group's number (0 to 2), the first global ID (3 to
// 5), the number of groups of the whole launch (6 to 8), and the number of dimensions (9).

#define OCLCC_REGISTER(NAME, REGISTER)                                                             \
  PART uint NAME(void) {                                                                           \
    uint value;                                                                                    \
    __asm__("mov.u32 %0, %%" REGISTER ";" : "=r"(value));                                          \
    return value;                                                                                  \
  }
OCLCC_REGISTER(oclcc_first_group_0, "envreg0")
OCLCC_REGISTER(oclcc_first_group_1, "envreg1")
OCLCC_REGISTER(oclcc_first_group_2, "envreg2")
OCLCC_REGISTER(oclcc_first_id_0, "envreg3")
OCLCC_REGISTER(oclcc_first_id_1, "envreg4")
OCLCC_REGISTER(oclcc_first_id_2, "envreg5")
OCLCC_REGISTER(oclcc_groups_0, "envreg6")
OCLCC_REGISTER(oclcc_groups_1, "envreg7")
OCLCC_REGISTER(oclcc_groups_2, "envreg8")
OCLCC_REGISTER(oclcc_dimensions, "envreg9")

#define GROUP(D, X) (oclcc_first_group_##D() + (uint)__nvvm_read_ptx_sreg_ctaid_##X())
#define SIZE(D, X) ((uint)__nvvm_read_ptx_sreg_ntid_##X())
#define LOCAL_ID(D, X) ((uint)__nvvm_read_ptx_sreg_tid_##X())
#define OFFSET(D, X) (oclcc_first_id_##D() - oclcc_first_group_##D() * SIZE(D, X))
#define GLOBAL_ID(D, X)                                                                            \
  (oclcc_first_id_##D() + (uint)__nvvm_read_ptx_sreg_ctaid_##X() * SIZE(D, X) + LOCAL_ID(D, X))
#define GROUPS(D, X) (oclcc_groups_##D())
#define GLOBAL_SIZE(D, X) (oclcc_groups_##D() * SIZE(D, X))

#define OCLCC_PER_DIMENSION(NAME, VALUE, BEYOND)                                                   \
  PURE_BUILT_IN __attribute__((always_inline)) ulong NAME(uint dimension) {                        \
    switch (dimension) {                                                                           \
    case 0:                                                                                        \
      return VALUE(0, x);                                                                          \
    case 1:                                                                                        \
      return VALUE(1, y);                                                                          \
    case 2:                                                                                        \
      return VALUE(2, z);                                                                          \
    default:                                                                                       \
      return BEYOND;                                                                               \
    }                                                                                              \
  }
OCLCC_PER_DIMENSION(get_global_id, GLOBAL_ID, 0)
OCLCC_PER_DIMENSION(get_global_size, GLOBAL_SIZE, 1)
OCLCC_PER_DIMENSION(get_global_offset, OFFSET, 0)
OCLCC_PER_DIMENSION(get_local_id, LOCAL_ID, 0)
OCLCC_PER_DIMENSION(get_local_size, SIZE, 1)
OCLCC_PER_DIMENSION(get_enqueued_local_size, SIZE, 1)
OCLCC_PER_DIMENSION(get_group_id, GROUP, 0)
OCLCC_PER_DIMENSION(get_num_groups, GROUPS, 1)

PURE_BUILT_IN __attribute__((always_inline)) uint get_work_dim(void) {
  return oclcc_dimensions();
}

PART uint oclcc_local_index(void) {
  return (LOCAL_ID(2, z) * SIZE(1, y) + LOCAL_ID(1, y)) * SIZE(0, x) + LOCAL_ID(0, x);
}
PURE_BUILT_IN ulong get_local_linear_id(void) {
  return oclcc_local_index();
}

PURE_BUILT_IN ulong get_global_linear_id(void) {
  return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) -
          get_global_offset(1)) *
             get_global_size(0) +
         get_global_id(0) - get_global_offset(0);
}

// Barriers and fences. bar.sync orders the memory of the work-group. OpenCL C 1.2 orders nothing
// beyond the work-group, hence membar.cta, as in the code of NVIDIA's compiler.

#define OCLCC_BARRIER(NAME)                                                                        \
  BUILT_IN __attribute__((convergent, always_inline)) void NAME(uint flags) {                      \
    __nvvm_bar_sync(0);                                                                            \
  }
OCLCC_BARRIER(barrier)
OCLCC_BARRIER(work_group_barrier)

#define OCLCC_FENCE(NAME)                                                                          \
  BUILT_IN __attribute__((always_inline)) void NAME(uint flags) {                                  \
    __asm__ volatile("membar.cta;" : : : "memory");                                                \
  }
OCLCC_FENCE(mem_fence)
OCLCC_FENCE(read_mem_fence)
OCLCC_FENCE(write_mem_fence)

// Asynchronous copies are done by all work-items of the work-group, and complete at the barrier in
// wait_group_events. libclc lacks those, and prefetch, of vectors of three components, which are
// copied as vectors of four, as the specification says.

PART uint oclcc_local_count(void) {
  return SIZE(0, x) * SIZE(1, y) * SIZE(2, z);
}

#define OCLCC_ASYNC(T, TO, FROM, TO_STRIDE, FROM_STRIDE)                                           \
  BUILT_IN event_t async_work_group_copy(TO T##3 * to, const FROM T##3 * from, ulong count,        \
                                         event_t event) {                                          \
    for (ulong i = oclcc_local_index(); i < count; i += oclcc_local_count())                       \
      ((TO T##4 *)to)[i] = ((const FROM T##4 *)from)[i];                                           \
    return event;                                                                                  \
  }                                                                                                \
  BUILT_IN event_t async_work_group_strided_copy(TO T##3 * to, const FROM T##3 * from,             \
                                                 ulong count, ulong stride, event_t event) {       \
    for (ulong i = oclcc_local_index(); i < count; i += oclcc_local_count()) {                     \
      ((TO T##4 *)to)[i * TO_STRIDE] = ((const FROM T##4 *)from)[i * FROM_STRIDE];                 \
    }                                                                                              \
    return event;                                                                                  \
  }
#define OCLCC_COPIES(T)                                                                            \
  OCLCC_ASYNC(T, __local, __global, 1, stride)                                                     \
  OCLCC_ASYNC(T, __global, __local, stride, 1)                                                     \
  BUILT_IN void prefetch(const __global T##3 * p, ulong count) {}
OCLCC_COPIES(char)
OCLCC_COPIES(uchar)
OCLCC_COPIES(short)
OCLCC_COPIES(ushort)
OCLCC_COPIES(int)
OCLCC_COPIES(uint)
OCLCC_COPIES(long)
OCLCC_COPIES(ulong)
OCLCC_COPIES(float)
OCLCC_COPIES(double)
