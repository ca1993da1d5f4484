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

// Asynchronous copies are made by all work-items of the work-group, neighbours in memory by
// neighbours, and complete at the barrier in wait_group_events. A vector of three components is
// copied as one of four, as the specification says. All functions count in 32 bits, since one side
// is local memory.
//
// From sm_80 on, cp.async copies to local memory while the work-item goes on. It copies 4, 8 or 16
// bytes that are aligned to their number. What has 16 bytes does not stay in the first cache.

PART uint oclcc_local_count(void) {
  return SIZE(0, x) * SIZE(1, y) * SIZE(2, z);
}
#define OCLCC_EACH(I, COUNT)                                                                       \
  for (uint I = oclcc_local_index(), oclcc_step = oclcc_local_count(); I < (uint)(COUNT);          \
       I += oclcc_step)

#if OCLCC_SM >= 80
#define OCLCC_FETCH(BYTES, CACHE)                                                                  \
  PART void oclcc_fetch_##BYTES(__local uchar* to, const __global uchar* from) {                   \
    __asm__ volatile("cp.async." CACHE ".shared.global [%0], [%1], " #BYTES ";"                    \
                     :                                                                             \
                     : "l"(to), "l"(from)                                                          \
                     : "memory");                                                                  \
  }
OCLCC_FETCH(4, "ca")
OCLCC_FETCH(8, "ca")
OCLCC_FETCH(16, "cg")

// Returns 0 if the copy cannot be made of 4 bytes each. `alignment` is that of the elements. Copies
// of 16 bytes would not be faster for elements of 4 (bench/results/async_copies.txt).
PART int oclcc_fetch_all(__local uchar* to, const __global uchar* from, ulong bytes,
                         uint alignment) {
  if (alignment >= 16) {
    OCLCC_EACH(i, bytes / 16) oclcc_fetch_16(to + i * 16, from + i * 16);
    return 1;
  }
  if (alignment >= 4 || (((ulong)to | (ulong)from | bytes) & 3) == 0) {
    OCLCC_EACH(i, bytes / 4) oclcc_fetch_4(to + i * 4, from + i * 4);
    return 1;
  }
  return 0;
}
// One element of `bytes`, at least 4.
PART void oclcc_fetch_one(__local uchar* to, const __global uchar* from, uint bytes) {
  if (bytes == 4) {
    oclcc_fetch_4(to, from);
  } else if (bytes == 8) {
    oclcc_fetch_8(to, from);
  }
  for (uint i = 0; i + 16 <= bytes; i += 16) {
    oclcc_fetch_16(to + i, from + i);
  }
}
PART void oclcc_complete_copies(void) {
  __asm__ volatile("cp.async.wait_all;" : : : "memory");
}
#else
PART int oclcc_fetch_all(__local uchar* to, const __global uchar* from, ulong bytes,
                         uint alignment) {
  return 0;
}
PART void oclcc_fetch_one(__local uchar* to, const __global uchar* from, uint bytes) {}
PART void oclcc_complete_copies(void) {}
#endif

BUILT_IN __attribute__((convergent)) void wait_group_events(int count, event_t* events) {
  oclcc_complete_copies();
  __nvvm_bar_sync(0);
}

#define OCLCC_COPY(T, WHOLE)                                                                       \
  BUILT_IN event_t async_work_group_copy(__local T* to, const __global T* from, ulong count,       \
                                         event_t event) {                                          \
    if (!oclcc_fetch_all((__local uchar*)to, (const __global uchar*)from, count * sizeof(T),       \
                         sizeof(T))) {                                                             \
      OCLCC_EACH(i, count)((__local WHOLE*)to)[i] = ((const __global WHOLE*)from)[i];              \
    }                                                                                              \
    return event;                                                                                  \
  }                                                                                                \
  BUILT_IN event_t async_work_group_copy(__global T* to, const __local T* from, ulong count,       \
                                         event_t event) {                                          \
    OCLCC_EACH(i, count)((__global WHOLE*)to)[i] = ((const __local WHOLE*)from)[i];                \
    return event;                                                                                  \
  }                                                                                                \
  BUILT_IN event_t async_work_group_strided_copy(__local T* to, const __global T* from,            \
                                                 ulong count, ulong stride, event_t event) {       \
    OCLCC_EACH(i, count) {                                                                         \
      if (OCLCC_SM >= 80 && sizeof(T) >= 4) {                                                      \
        oclcc_fetch_one((__local uchar*)(to + i), (const __global uchar*)(from + i * stride),      \
                        sizeof(T));                                                                \
      } else {                                                                                     \
        ((__local WHOLE*)to)[i] = ((const __global WHOLE*)from)[i * stride];                       \
      }                                                                                            \
    }                                                                                              \
    return event;                                                                                  \
  }                                                                                                \
  BUILT_IN event_t async_work_group_strided_copy(__global T* to, const __local T* from,            \
                                                 ulong count, ulong stride, event_t event) {       \
    OCLCC_EACH(i, count)((__global WHOLE*)to)[i * stride] = ((const __local WHOLE*)from)[i];       \
    return event;                                                                                  \
  }                                                                                                \
  BUILT_IN void prefetch(const __global T* p, ulong count) {}

#define OCLCC_COPIES(T)                                                                            \
  OCLCC_COPY(T, T)                                                                                 \
  OCLCC_COPY(T##2, T##2)                                                                           \
  OCLCC_COPY(T##3, T##4)                                                                           \
  OCLCC_COPY(T##4, T##4)                                                                           \
  OCLCC_COPY(T##8, T##8)                                                                           \
  OCLCC_COPY(T##16, T##16)
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
