// Functions of sub-groups, for cl_khr_subgroups and its kin, and of work-groups, for
// __opencl_c_work_group_collective_functions, which combine the results of sub-groups. A sub-group
// is a warp of 32 lanes, which the device makes of work-items in the order of their local linear
// IDs (PTX ISA, "%laneid"). The last sub-group of a work-group has the rest.
//
// Functions that each work-item of the sub-group must call name all its lanes in their
// instructions, which then wait for each other, also where a branch has separated the lanes before
// (PTX ISA, "shfl.sync", "vote.sync", "bar.warp.sync"). The others name the lanes that execute
// together. Assembler text is volatile, because each lane depends on the others.

PART uint oclcc_lane(void) {
  uint lane;
  __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
// The lanes that execute together.
PART uint oclcc_active(void) {
  uint mask;
  __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
PART uint oclcc_below(void) {
  return (1u << oclcc_lane()) - 1;
}
PART uint oclcc_first(uint mask) {
  return (uint)__builtin_ctz(mask);
}
PART uint oclcc_last(uint mask) {
  return 31 - (uint)__builtin_clz(mask);
}

BUILT_IN uint get_sub_group_id(void) {
  return oclcc_local_index() / 32;
}
BUILT_IN uint get_sub_group_local_id(void) {
  return oclcc_lane();
}
BUILT_IN uint get_max_sub_group_size(void) {
  return 32;
}
BUILT_IN uint get_num_sub_groups(void) {
  return (oclcc_local_count() + 31) / 32;
}
BUILT_IN uint get_enqueued_num_sub_groups(void) {
  return (oclcc_local_count() + 31) / 32;
}
BUILT_IN uint get_sub_group_size(void) {
  const uint rest = oclcc_local_count() - (oclcc_local_index() & ~31u);
  return rest < 32 ? rest : 32;
}
// All lanes of the sub-group.
PART uint oclcc_members(void) {
  return ~0u >> (32 - get_sub_group_size());
}

// bar.warp.sync orders the memory of the lanes, whatever the flags.
PART void oclcc_sub_group_barrier(void) {
  __asm__ volatile("bar.warp.sync %0;" : : "r"(oclcc_members()) : "memory");
}
BUILT_IN void sub_group_barrier(uint flags) {
  oclcc_sub_group_barrier();
}
BUILT_IN void sub_group_barrier(uint flags, memory_scope scope) {
  oclcc_sub_group_barrier();
}

#define OCLCC_VOTE(NAME, INSTRUCTION)                                                              \
  PART int oclcc_vote_##NAME(int predicate, uint mask) {                                           \
    int result;                                                                                    \
    __asm__ volatile("{ .reg .pred in, out; setp.ne.s32 in, %1, 0; vote.sync." INSTRUCTION         \
                     ".pred out, in, %2; selp.s32 %0, 1, 0, out; }"                                \
                     : "=r"(result)                                                                \
                     : "r"(predicate), "r"(mask));                                                 \
    return result;                                                                                 \
  }                                                                                                \
  BUILT_IN int sub_group_##NAME(int predicate) {                                                   \
    return oclcc_vote_##NAME(predicate, oclcc_members());                                          \
  }                                                                                                \
  BUILT_IN int sub_group_non_uniform_##NAME(int predicate) {                                       \
    return oclcc_vote_##NAME(predicate, oclcc_active());                                           \
  }
OCLCC_VOTE(all, "all")
OCLCC_VOTE(any, "any")
BUILT_IN int sub_group_elect(void) {
  return oclcc_lane() == oclcc_first(oclcc_active());
}

// The value of another lane. All lanes of the mask call it together.
PART BUILT_IN uint oclcc_of(uint value, uint lane, uint mask) {
  uint result;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                   : "=r"(result)
                   : "r"(value), "r"(lane), "r"(mask));
  return result;
}
PART BUILT_IN ulong oclcc_of(ulong value, uint lane, uint mask) {
  const uint low = oclcc_of((uint)value, lane, mask);
  return (ulong)oclcc_of((uint)(value >> 32), lane, mask) << 32 | low;
}
#define OCLCC_OF(T, TO_BITS, BITS, FROM_BITS)                                                      \
  PART BUILT_IN T oclcc_of(T value, uint lane, uint mask) {                                        \
    return (T)FROM_BITS(oclcc_of((BITS)TO_BITS(value), lane, mask));                               \
  }
OCLCC_OF(char, , uint, )
OCLCC_OF(uchar, , uint, )
OCLCC_OF(short, , uint, )
OCLCC_OF(ushort, , uint, )
OCLCC_OF(int, , uint, )
OCLCC_OF(long, , ulong, )
OCLCC_OF(float, AS_UINT, uint, AS_FLOAT)
OCLCC_OF(double, AS_ULONG, ulong, AS_DOUBLE)
#ifdef OCLCC_HALF_TYPES
OCLCC_OF(half, AS_USHORT, uint, AS_HALF)
#define OCLCC_FOR_HALF(M, ...) M(half, __VA_ARGS__)
#else
#define OCLCC_FOR_HALF(M, ...)
#endif
#define OCLCC_FOR_INTEGERS(M, ...)                                                                 \
  M(char, __VA_ARGS__)                                                                             \
  M(uchar, __VA_ARGS__)                                                                            \
  M(short, __VA_ARGS__)                                                                            \
  M(ushort, __VA_ARGS__)                                                                           \
  M(int, __VA_ARGS__)                                                                              \
  M(uint, __VA_ARGS__)                                                                             \
  M(long, __VA_ARGS__)                                                                             \
  M(ulong, __VA_ARGS__)
#define OCLCC_FOR_ALL(M, ...)                                                                      \
  OCLCC_FOR_INTEGERS(M, __VA_ARGS__)                                                               \
  M(float, __VA_ARGS__)                                                                            \
  M(double, __VA_ARGS__)                                                                           \
  OCLCC_FOR_HALF(M, __VA_ARGS__)

#define OCLCC_CLUSTER(LANE, SIZE) ((LANE) & ~((SIZE)-1))
#define OCLCC_SHUFFLES_OF(T, _)                                                                    \
  BUILT_IN T sub_group_shuffle(T value, uint index) {                                              \
    return oclcc_of(value, index, oclcc_active());                                                 \
  }                                                                                                \
  BUILT_IN T sub_group_shuffle_xor(T value, uint mask) {                                           \
    return oclcc_of(value, oclcc_lane() ^ mask, oclcc_active());                                   \
  }                                                                                                \
  BUILT_IN T sub_group_shuffle_up(T value, uint delta) {                                           \
    return oclcc_of(value, oclcc_lane() - delta, oclcc_active());                                  \
  }                                                                                                \
  BUILT_IN T sub_group_shuffle_down(T value, uint delta) {                                         \
    return oclcc_of(value, oclcc_lane() + delta, oclcc_active());                                  \
  }                                                                                                \
  BUILT_IN T sub_group_rotate(T value, int delta) {                                                \
    return oclcc_of(value, oclcc_lane() + (uint)delta, oclcc_active());                            \
  }                                                                                                \
  BUILT_IN T sub_group_clustered_rotate(T value, int delta, uint size) {                           \
    const uint lane = oclcc_lane();                                                                \
    const uint in_cluster = (lane + (uint)delta) & (size - 1);                                     \
    return oclcc_of(value, OCLCC_CLUSTER(lane, size) | in_cluster, oclcc_active());                \
  }                                                                                                \
  BUILT_IN T sub_group_broadcast_first(T value) {                                                  \
    const uint mask = oclcc_active();                                                              \
    return oclcc_of(value, oclcc_first(mask), mask);                                               \
  }                                                                                                \
  BUILT_IN int sub_group_non_uniform_all_equal(T value) {                                          \
    const uint mask = oclcc_active();                                                              \
    return oclcc_vote_all(value == oclcc_of(value, oclcc_first(mask), mask), mask);                \
  }
OCLCC_FOR_ALL(OCLCC_SHUFFLES_OF, )

#define OCLCC_BROADCAST_VECTOR(N, NAME, T, MASK)                                                   \
  BUILT_IN T##N NAME(T##N value, uint lane) {                                                      \
    T##N result;                                                                                   \
    const uint mask = MASK;                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) result[i] = oclcc_of(value[i], lane, mask);      \
    return result;                                                                                 \
  }
#define OCLCC_BROADCAST(T, NAME, MASK)                                                             \
  BUILT_IN T NAME(T value, uint lane) {                                                            \
    return oclcc_of(value, lane, MASK);                                                            \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_BROADCAST_VECTOR, NAME, T, MASK)
OCLCC_FOR_ALL(OCLCC_BROADCAST, sub_group_broadcast, oclcc_members())
OCLCC_FOR_ALL(OCLCC_BROADCAST, sub_group_non_uniform_broadcast, oclcc_active())

// Ballots. Those of 32 lanes are in the first component.

BUILT_IN uint4 sub_group_ballot(int predicate) {
  uint bits;
  __asm__ volatile("{ .reg .pred in; setp.ne.s32 in, %1, 0; vote.sync.ballot.b32 %0, in, %2; }"
                   : "=r"(bits)
                   : "r"(predicate), "r"(oclcc_active()));
  return (uint4)(bits, 0, 0, 0);
}
BUILT_IN int sub_group_inverse_ballot(uint4 value) {
  return (int)(value.x >> oclcc_lane() & 1);
}
BUILT_IN int sub_group_ballot_bit_extract(uint4 value, uint index) {
  return index < 32 ? (int)(value.x >> index & 1) : 0;
}
BUILT_IN uint sub_group_ballot_bit_count(uint4 value) {
  return (uint)__builtin_popcount(value.x);
}
BUILT_IN uint sub_group_ballot_inclusive_scan(uint4 value) {
  const uint below = oclcc_below();
  return (uint)__builtin_popcount(value.x & (below << 1 | 1));
}
BUILT_IN uint sub_group_ballot_exclusive_scan(uint4 value) {
  return (uint)__builtin_popcount(value.x & oclcc_below());
}
BUILT_IN uint sub_group_ballot_find_lsb(uint4 value) {
  return oclcc_first(value.x);
}
BUILT_IN uint sub_group_ballot_find_msb(uint4 value) {
  return oclcc_last(value.x);
}
#define OCLCC_MASK(NAME, BITS)                                                                     \
  BUILT_IN uint4 get_sub_group_##NAME##_mask(void) {                                               \
    const uint below = oclcc_below();                                                              \
    return (uint4)(BITS, 0, 0, 0);                                                                 \
  }
OCLCC_MASK(eq, below + 1)
OCLCC_MASK(ge, ~below)
OCLCC_MASK(gt, ~(below << 1 | 1))
OCLCC_MASK(le, below << 1 | 1)
OCLCC_MASK(lt, below)

// Reductions and scans of an operation: OCLCC_DO_NAME(a, b). There are two ways to scan: the lanes
// of a whole sub-group have no gap, those of a group in divergent code, or of a cluster, may have.

// Each step doubles the number of lanes below whose values are in the sum.
#define OCLCC_SCAN_WITHOUT_GAPS(T, NAME)                                                           \
  PART BUILT_IN T oclcc_prefix_##NAME(T value, uint mask) {                                        \
    const uint lane = oclcc_lane();                                                                \
    T sum = value;                                                                                 \
    _Pragma("unroll") for (uint step = 1; step < 32; step *= 2) {                                  \
      const T other = oclcc_of(sum, lane - step, mask);                                            \
      sum = lane >= step ? OCLCC_DO_##NAME(T, other, sum) : sum;                                   \
    }                                                                                              \
    return sum;                                                                                    \
  }
// Each step adds the sum of the lane at which this one's ends, `next`, which is 32 if there is
// none.
#define OCLCC_SCAN_WITH_GAPS(T, NAME)                                                              \
  PART BUILT_IN T oclcc_scan_##NAME(T value, uint group, uint mask) {                              \
    const uint lane = oclcc_lane();                                                                \
    const uint before = group & oclcc_below();                                                     \
    uint next = before != 0 ? oclcc_last(before) : 32;                                             \
    T sum = value;                                                                                 \
    _Pragma("unroll") for (int step = 0; step < 5; ++step) {                                       \
      const uint from = next < 32 ? next : lane;                                                   \
      const T other = oclcc_of(sum, from, mask);                                                   \
      const uint after = oclcc_of(next, from, mask);                                               \
      sum = next < 32 ? OCLCC_DO_##NAME(T, other, sum) : sum;                                      \
      next = next < 32 ? after : next;                                                             \
    }                                                                                              \
    return sum;                                                                                    \
  }

// The result of all lanes of the group, of which this is one.
#define OCLCC_REDUCE_BY_SCAN(T, NAME)                                                              \
  PART BUILT_IN T oclcc_reduce_##NAME(T value, uint group, uint mask) {                            \
    return oclcc_of(oclcc_scan_##NAME(value, group, mask), oclcc_last(group), mask);               \
  }                                                                                                \
  PART BUILT_IN T oclcc_reduce_all_##NAME(T value, uint mask) {                                    \
    return oclcc_of(oclcc_prefix_##NAME(value, mask), oclcc_last(mask), mask);                     \
  }
#if OCLCC_SM >= 80
#define OCLCC_REDUCE(T, WIDE, NAME, INSTRUCTION)                                                   \
  PART BUILT_IN T oclcc_reduce_##NAME(T value, uint group, uint mask) {                            \
    WIDE result;                                                                                   \
    __asm__ volatile("redux.sync." INSTRUCTION " %0, %1, %2;"                                      \
                     : "=r"(result)                                                                \
                     : "r"((WIDE)value), "r"(group));                                              \
    return (T)result;                                                                              \
  }                                                                                                \
  PART BUILT_IN T oclcc_reduce_all_##NAME(T value, uint mask) {                                    \
    return oclcc_reduce_##NAME(value, mask, mask);                                                 \
  }
#else
#define OCLCC_REDUCE(T, WIDE, NAME, INSTRUCTION) OCLCC_REDUCE_BY_SCAN(T, NAME)
#endif

// Those that the work-items of a sub-group call together.
#define OCLCC_UNIFORM(T, NAME, IDENTITY)                                                           \
  BUILT_IN T sub_group_reduce_##NAME(T value) {                                                    \
    return oclcc_reduce_all_##NAME(value, oclcc_members());                                        \
  }                                                                                                \
  BUILT_IN T sub_group_scan_inclusive_##NAME(T value) {                                            \
    return oclcc_prefix_##NAME(value, oclcc_members());                                            \
  }                                                                                                \
  BUILT_IN T sub_group_scan_exclusive_##NAME(T value) {                                            \
    const uint mask = oclcc_members();                                                             \
    const uint lane = oclcc_lane();                                                                \
    const T before = oclcc_of(oclcc_prefix_##NAME(value, mask), lane - 1, mask);                   \
    return lane != 0 ? before : IDENTITY;                                                          \
  }
#define OCLCC_NON_UNIFORM(T, NAME, PART_NAME, VALUE, IDENTITY)                                     \
  BUILT_IN T sub_group_non_uniform_reduce_##NAME(T value) {                                        \
    const uint mask = oclcc_active();                                                              \
    return oclcc_reduce_##PART_NAME(VALUE, mask, mask);                                            \
  }                                                                                                \
  BUILT_IN T sub_group_non_uniform_scan_inclusive_##NAME(T value) {                                \
    const uint mask = oclcc_active();                                                              \
    return oclcc_scan_##PART_NAME(VALUE, mask, mask);                                              \
  }                                                                                                \
  BUILT_IN T sub_group_non_uniform_scan_exclusive_##NAME(T value) {                                \
    const uint mask = oclcc_active();                                                              \
    const uint before = mask & oclcc_below();                                                      \
    const uint from = before != 0 ? oclcc_last(before) : oclcc_lane();                             \
    const T result = oclcc_of(oclcc_scan_##PART_NAME(VALUE, mask, mask), from, mask);              \
    return before != 0 ? result : IDENTITY;                                                        \
  }                                                                                                \
  BUILT_IN T sub_group_clustered_reduce_##NAME(T value, uint size) {                               \
    const uint mask = oclcc_active();                                                              \
    const uint first = OCLCC_CLUSTER(oclcc_lane(), size);                                          \
    return oclcc_reduce_##PART_NAME(VALUE, mask & ((~0u >> (32 - size)) << first), mask);          \
  }

#define OCLCC_DO_add(T, a, b) (T)(a + b)
#define OCLCC_DO_mul(T, a, b) (T)(a * b)
#define OCLCC_DO_min(T, a, b) (b < a ? b : a)
#define OCLCC_DO_max(T, a, b) (b > a ? b : a)
#define OCLCC_DO_and(T, a, b) (T)(a & b)
#define OCLCC_DO_or(T, a, b) (T)(a | b)
#define OCLCC_DO_xor(T, a, b) (T)(a ^ b)

#define OCLCC_ORDERED(T, NAME, REDUCE, IDENTITY)                                                   \
  OCLCC_SCAN_WITHOUT_GAPS(T, NAME)                                                                 \
  OCLCC_SCAN_WITH_GAPS(T, NAME)                                                                    \
  REDUCE                                                                                           \
  OCLCC_UNIFORM(T, NAME, IDENTITY)                                                                 \
  OCLCC_NON_UNIFORM(T, NAME, NAME, value, IDENTITY)
#define OCLCC_BITWISE(T, NAME, REDUCE, IDENTITY)                                                   \
  OCLCC_SCAN_WITHOUT_GAPS(T, NAME)                                                                 \
  OCLCC_SCAN_WITH_GAPS(T, NAME)                                                                    \
  REDUCE                                                                                           \
  OCLCC_NON_UNIFORM(T, NAME, NAME, value, IDENTITY)
#define OCLCC_MULTIPLIED(T, IDENTITY) OCLCC_BITWISE(T, mul, OCLCC_REDUCE_BY_SCAN(T, mul), IDENTITY)

#define OCLCC_NARROW(T, WIDE, SIGN, LEAST, MOST)                                                   \
  OCLCC_ORDERED(T, add, OCLCC_REDUCE(T, WIDE, add, "add." SIGN), (T)0)                             \
  OCLCC_ORDERED(T, min, OCLCC_REDUCE(T, WIDE, min, "min." SIGN), (T)(MOST))                        \
  OCLCC_ORDERED(T, max, OCLCC_REDUCE(T, WIDE, max, "max." SIGN), (T)(LEAST))                       \
  OCLCC_BITWISE(T, and, OCLCC_REDUCE(T, WIDE, and, "and.b32"), (T)~0)                              \
  OCLCC_BITWISE(T, or, OCLCC_REDUCE(T, WIDE, or, "or.b32"), (T)0)                                  \
  OCLCC_BITWISE(T, xor, OCLCC_REDUCE(T, WIDE, xor, "xor.b32"), (T)0)                               \
  OCLCC_MULTIPLIED(T, (T)1)
OCLCC_NARROW(char, int, "s32", -128, 127)
OCLCC_NARROW(uchar, uint, "u32", 0, 255)
OCLCC_NARROW(short, int, "s32", -32768, 32767)
OCLCC_NARROW(ushort, uint, "u32", 0, 65535)
OCLCC_NARROW(int, int, "s32", 0x80000000u, 0x7fffffff)
OCLCC_NARROW(uint, uint, "u32", 0, ~0u)

#define OCLCC_WIDE(T, LEAST, MOST)                                                                 \
  OCLCC_ORDERED(T, add, OCLCC_REDUCE_BY_SCAN(T, add), (T)0)                                        \
  OCLCC_ORDERED(T, min, OCLCC_REDUCE_BY_SCAN(T, min), (T)(MOST))                                   \
  OCLCC_ORDERED(T, max, OCLCC_REDUCE_BY_SCAN(T, max), (T)(LEAST))                                  \
  OCLCC_BITWISE(T, and, OCLCC_REDUCE_BY_SCAN(T, and), (T)~0UL)                                     \
  OCLCC_BITWISE(T, or, OCLCC_REDUCE_BY_SCAN(T, or), (T)0)                                          \
  OCLCC_BITWISE(T, xor, OCLCC_REDUCE_BY_SCAN(T, xor), (T)0)                                        \
  OCLCC_MULTIPLIED(T, (T)1)
OCLCC_WIDE(long, 1UL << 63, ~0UL >> 1)
OCLCC_WIDE(ulong, 0, ~0UL)

// Of truth values: 1 or 0.
OCLCC_NON_UNIFORM(int, logical_and, and, value != 0, 1)
OCLCC_NON_UNIFORM(int, logical_or, or, value != 0, 0)
OCLCC_NON_UNIFORM(int, logical_xor, xor, value != 0, 0)

// A NaN is ignored if there is a number.
#define OCLCC_LEAST_OF(a, b) (a != a || b < a ? b : a)
#define OCLCC_MOST_OF(a, b) (a != a || b > a ? b : a)
#undef OCLCC_DO_min
#undef OCLCC_DO_max
#define OCLCC_DO_min(T, a, b) OCLCC_LEAST_OF(a, b)
#define OCLCC_DO_max(T, a, b) OCLCC_MOST_OF(a, b)
#define OCLCC_FLOATING(T, INFINITY_OF)                                                             \
  OCLCC_ORDERED(T, add, OCLCC_REDUCE_BY_SCAN(T, add), (T)0.0f)                                     \
  OCLCC_ORDERED(T, min, OCLCC_REDUCE_BY_SCAN(T, min), INFINITY_OF)                                 \
  OCLCC_ORDERED(T, max, OCLCC_REDUCE_BY_SCAN(T, max), -INFINITY_OF)                                \
  OCLCC_MULTIPLIED(T, (T)1.0f)
OCLCC_FLOATING(float, OCLCC_INFINITY_F)
OCLCC_FLOATING(double, (double)OCLCC_INFINITY_F)
#ifdef OCLCC_HALF_TYPES
OCLCC_FLOATING(half, AS_HALF(0x7c00))
#endif

// Functions that all work-items of a work-group call together. The device computes all and any; the
// others use local memory, which is free again behind their last barrier.

BUILT_IN int work_group_all(int predicate) {
  return __nvvm_bar0_and(predicate);
}
BUILT_IN int work_group_any(int predicate) {
  return __nvvm_bar0_or(predicate);
}

// 32 of them, one for each sub-group. images.ll has the variable.
__local ulong* oclcc_slots(void);

// `result` is that of the sub-group in its last lane. Returns the result of all sub-groups up to
// `last`. The first sub-group has a lane for each of them.
#define OCLCC_UP_TO(T, NAME)                                                                       \
  PART BUILT_IN T oclcc_up_to_##NAME(T result, uint last) {                                        \
    __local T* slots = (__local T*)oclcc_slots();                                                  \
    const uint mask = oclcc_members();                                                             \
    const uint lane = oclcc_lane();                                                                \
    if (lane == oclcc_last(mask))                                                                  \
      slots[get_sub_group_id()] = result;                                                          \
    barrier(0);                                                                                    \
    if (get_sub_group_id() == 0) {                                                                 \
      const int is_used = lane < get_num_sub_groups();                                             \
      const T sum = oclcc_prefix_##NAME(is_used ? slots[lane] : result, mask);                     \
      if (is_used)                                                                                 \
        slots[lane] = sum;                                                                         \
    }                                                                                              \
    barrier(0);                                                                                    \
    const T sum = slots[last];                                                                     \
    barrier(0);                                                                                    \
    return sum;                                                                                    \
  }
#define OCLCC_WORK_GROUP(T, NAME, IDENTITY)                                                        \
  OCLCC_UP_TO(T, NAME)                                                                             \
  BUILT_IN __attribute__((always_inline)) T work_group_reduce_##NAME(T value) {                    \
    const T result = oclcc_reduce_all_##NAME(value, oclcc_members());                              \
    return oclcc_up_to_##NAME(result, get_num_sub_groups() - 1);                                   \
  }                                                                                                \
  BUILT_IN __attribute__((always_inline)) T work_group_scan_inclusive_##NAME(T value) {            \
    const T sum = oclcc_prefix_##NAME(value, oclcc_members());                                     \
    const uint id = get_sub_group_id();                                                            \
    const T before = oclcc_up_to_##NAME(sum, id != 0 ? id - 1 : 0);                                \
    return id != 0 ? OCLCC_DO_##NAME(T, before, sum) : sum;                                        \
  }                                                                                                \
  BUILT_IN __attribute__((always_inline)) T work_group_scan_exclusive_##NAME(T value) {            \
    const uint mask = oclcc_members();                                                             \
    const uint lane = oclcc_lane();                                                                \
    const uint id = get_sub_group_id();                                                            \
    const T sum = oclcc_prefix_##NAME(value, mask);                                                \
    const T below = oclcc_of(sum, lane - 1, mask);                                                 \
    const T before = oclcc_up_to_##NAME(sum, id != 0 ? id - 1 : 0);                                \
    if (lane == 0)                                                                                 \
      return id != 0 ? before : IDENTITY;                                                          \
    return id != 0 ? OCLCC_DO_##NAME(T, before, below) : below;                                    \
  }
#define OCLCC_WORK_GROUPS_OF(T, LEAST, MOST)                                                       \
  OCLCC_WORK_GROUP(T, add, (T)0)                                                                   \
  OCLCC_WORK_GROUP(T, min, (T)(MOST))                                                              \
  OCLCC_WORK_GROUP(T, max, (T)(LEAST))                                                             \
  BUILT_IN __attribute__((always_inline)) T work_group_broadcast(T value, ulong x, ulong y,        \
                                                                 ulong z) {                        \
    __local T* slot = (__local T*)oclcc_slots();                                                   \
    if (LOCAL_ID(0, x) == x && LOCAL_ID(1, y) == y && LOCAL_ID(2, z) == z)                         \
      *slot = value;                                                                               \
    barrier(0);                                                                                    \
    const T result = *slot;                                                                        \
    barrier(0);                                                                                    \
    return result;                                                                                 \
  }                                                                                                \
  BUILT_IN __attribute__((always_inline)) T work_group_broadcast(T value, ulong x, ulong y) {      \
    return work_group_broadcast(value, x, y, 0);                                                   \
  }                                                                                                \
  BUILT_IN __attribute__((always_inline)) T work_group_broadcast(T value, ulong x) {               \
    return work_group_broadcast(value, x, 0, 0);                                                   \
  }
OCLCC_WORK_GROUPS_OF(int, 0x80000000u, 0x7fffffff)
OCLCC_WORK_GROUPS_OF(uint, 0, ~0u)
OCLCC_WORK_GROUPS_OF(long, 1UL << 63, ~0UL >> 1)
OCLCC_WORK_GROUPS_OF(ulong, 0, ~0UL)
OCLCC_WORK_GROUPS_OF(float, -OCLCC_INFINITY_F, OCLCC_INFINITY_F)
OCLCC_WORK_GROUPS_OF(double, -OCLCC_INFINITY_F, OCLCC_INFINITY_F)
#ifdef OCLCC_HALF_TYPES
OCLCC_WORK_GROUPS_OF(half, AS_HALF(0xfc00), AS_HALF(0x7c00))
#endif
