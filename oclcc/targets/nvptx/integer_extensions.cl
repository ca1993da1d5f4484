// Functions of integers for cl_khr_integer_dot_product and cl_khr_extended_bit_ops, and the clocks
// of cl_khr_kernel_clock.

// The instruction exists from sm_61 on. Products have 16 bits, hence the sum does not overflow.
#if OCLCC_SM >= 61
#define OCLCC_DOT(RESULT, A, B, LETTERS)                                                           \
  PURE_BUILT_IN RESULT dot(A a, B b) {                                                             \
    RESULT result;                                                                                 \
    __asm__("dp4a." LETTERS " %0, %1, %2, %3;"                                                     \
            : "=r"(result)                                                                         \
            : "r"(__builtin_astype(a, uint)), "r"(__builtin_astype(b, uint)), "r"(0));             \
    return result;                                                                                 \
  }
#else
#define OCLCC_DOT(RESULT, A, B, LETTERS)                                                           \
  PURE_BUILT_IN RESULT dot(A a, B b) {                                                             \
    return (RESULT)a.x * (RESULT)b.x + (RESULT)a.y * (RESULT)b.y + (RESULT)a.z * (RESULT)b.z +     \
           (RESULT)a.w * (RESULT)b.w;                                                              \
  }
#endif
PURE_BUILT_IN int add_sat(int, int);
PURE_BUILT_IN uint add_sat(uint, uint);
#define OCLCC_DOT_PRODUCT(RESULT, A, B, INSTRUCTION_LETTERS, LETTERS)                              \
  OCLCC_DOT(RESULT, A, B, INSTRUCTION_LETTERS)                                                     \
  PURE_BUILT_IN RESULT dot_acc_sat(A a, B b, RESULT sum) {                                         \
    return add_sat(dot(a, b), sum);                                                                \
  }                                                                                                \
  PURE_BUILT_IN RESULT dot_4x8packed_##LETTERS##_##RESULT(uint a, uint b) {                        \
    return dot(__builtin_astype(a, A), __builtin_astype(b, B));                                    \
  }                                                                                                \
  PURE_BUILT_IN RESULT dot_acc_sat_4x8packed_##LETTERS##_##RESULT(uint a, uint b, RESULT sum) {    \
    return dot_acc_sat(__builtin_astype(a, A), __builtin_astype(b, B), sum);                       \
  }
OCLCC_DOT_PRODUCT(uint, uchar4, uchar4, "u32.u32", uu)
OCLCC_DOT_PRODUCT(int, char4, char4, "s32.s32", ss)
OCLCC_DOT_PRODUCT(int, uchar4, char4, "u32.s32", us)
OCLCC_DOT_PRODUCT(int, char4, uchar4, "s32.u32", su)

// Bits from `offset` on, `count` of them, which may be none or all.
#define OCLCC_BIT_FIELDS(T, S, U, BITS)                                                            \
  PURE_BUILT_IN T bitfield_insert(T base, T insert, uint offset, uint count) {                     \
    const U field = count == 0 ? (U)0 : (U)((U)((U) ~(U)0 >> (BITS - count)) << offset);           \
    return (T)(((U)base & (U)~field) | ((U)((U)insert << (offset & (BITS - 1))) & field));         \
  }                                                                                                \
  PURE_BUILT_IN S bitfield_extract_signed(T base, uint offset, uint count) {                       \
    return count == 0 ? (S)0 : (S)((S)(U)((U)base << (BITS - count - offset)) >> (BITS - count));  \
  }                                                                                                \
  PURE_BUILT_IN U bitfield_extract_unsigned(T base, uint offset, uint count) {                     \
    return count == 0 ? (U)0 : (U)((U)((U)base << (BITS - count - offset)) >> (BITS - count));     \
  }                                                                                                \
  PURE_BUILT_IN T bit_reverse(T base) {                                                            \
    return (T)__builtin_bitreverse##BITS((U)base);                                                 \
  }                                                                                                \
  MAP1(bit_reverse, T, T)                                                                          \
  OCLCC_WIDTHS(OCLCC_BIT_FIELD_VECTOR, T, S, U)
#define OCLCC_BIT_FIELD_VECTOR(N, T, S, U)                                                         \
  PURE_BUILT_IN T##N bitfield_insert(T##N base, T##N insert, uint offset, uint count) {            \
    T##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      r[i] = bitfield_insert(base[i], insert[i], offset, count);                                   \
    }                                                                                              \
    return r;                                                                                      \
  }                                                                                                \
  PURE_BUILT_IN S##N bitfield_extract_signed(T##N base, uint offset, uint count) {                 \
    S##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      r[i] = bitfield_extract_signed(base[i], offset, count);                                      \
    }                                                                                              \
    return r;                                                                                      \
  }                                                                                                \
  PURE_BUILT_IN U##N bitfield_extract_unsigned(T##N base, uint offset, uint count) {               \
    U##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      r[i] = bitfield_extract_unsigned(base[i], offset, count);                                    \
    }                                                                                              \
    return r;                                                                                      \
  }
OCLCC_BIT_FIELDS(char, char, uchar, 8)
OCLCC_BIT_FIELDS(uchar, char, uchar, 8)
OCLCC_BIT_FIELDS(short, short, ushort, 16)
OCLCC_BIT_FIELDS(ushort, short, ushort, 16)
OCLCC_BIT_FIELDS(int, int, uint, 32)
OCLCC_BIT_FIELDS(uint, int, uint, 32)
OCLCC_BIT_FIELDS(long, long, ulong, 64)
OCLCC_BIT_FIELDS(ulong, long, ulong, 64)

// %globaltimer, in nanoseconds, is one clock for the device. %clock64 counts the cycles of a
// multiprocessor, on which the whole work-group runs (PTX ISA, "Special Registers").
#define OCLCC_CLOCK(SCOPE, REGISTER)                                                               \
  BUILT_IN ulong clock_read_##SCOPE(void) {                                                        \
    ulong time;                                                                                    \
    __asm__ volatile("mov.u64 %0, %%" REGISTER ";" : "=l"(time) : : "memory");                     \
    return time;                                                                                   \
  }                                                                                                \
  BUILT_IN uint2 clock_read_hilo_##SCOPE(void) {                                                   \
    return __builtin_astype(clock_read_##SCOPE(), uint2);                                          \
  }
OCLCC_CLOCK(device, "globaltimer")
OCLCC_CLOCK(work_group, "clock64")
OCLCC_CLOCK(sub_group, "clock64")
