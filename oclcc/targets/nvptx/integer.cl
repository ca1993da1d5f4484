// Functions of integers, and the atomic functions of OpenCL C 1.2, cl_khr_int64_base_atomics and
// cl_khr_int64_extended_atomics, which are relaxed.

#define OCLCC_HIGH_HALF(T, WIDE, BITS)                                                             \
  PURE_BUILT_IN T mul_hi(T a, T b) {                                                               \
    return (T)(((WIDE)a * (WIDE)b) >> BITS);                                                       \
  }                                                                                                \
  PURE_BUILT_IN T mad_hi(T a, T b, T c) {                                                          \
    return (T)(mul_hi(a, b) + (WIDE)c);                                                            \
  }                                                                                                \
  MAP2(mul_hi, T, T, T)                                                                            \
  MAP3(mad_hi, T, T, T, T)
OCLCC_HIGH_HALF(char, int, 8)
OCLCC_HIGH_HALF(uchar, uint, 8)
OCLCC_HIGH_HALF(short, int, 16)
OCLCC_HIGH_HALF(ushort, uint, 16)
OCLCC_HIGH_HALF(int, long, 32)
OCLCC_HIGH_HALF(uint, ulong, 32)

// Signed overflow is defined in OpenCL C, hence the unsigned sum.
PURE_BUILT_IN long mad_hi(long a, long b, long c) {
  return (long)((ulong)(((__int128)a * b) >> 64) + (ulong)c);
}
PURE_BUILT_IN ulong mad_hi(ulong a, ulong b, ulong c) {
  return oclcc_mul_hi_u64(a, b) + c;
}
MAP3(mad_hi, long, long, long, long)
MAP3(mad_hi, ulong, ulong, ulong, ulong)

// The back end of LLVM 15 rotates 64 bits without reducing the distance, which the
// instructions limit to 64. It does not look into assembler text.
PURE_BUILT_IN ulong rotate(ulong x, ulong n) {
  const uint distance = (uint)n & 63;
  ulong high, low;
  __asm__("shl.b64 %0, %1, %2;" : "=l"(high) : "l"(x), "r"(distance));
  __asm__("shr.b64 %0, %1, %2;" : "=l"(low) : "l"(x), "r"(64 - distance));
  return high | low;
}
PURE_BUILT_IN long rotate(long x, long n) {
  return (long)rotate((ulong)x, (ulong)n);
}
MAP2(rotate, ulong, ulong, ulong)
MAP2(rotate, long, long, long)
#define OCLCC_ROTATE(T, ROTATE)                                                                    \
  PURE_BUILT_IN T rotate(T x, T n) {                                                               \
    return (T)ROTATE(x, n);                                                                        \
  }                                                                                                \
  MAP2(rotate, T, T, T)
OCLCC_ROTATE(char, __builtin_rotateleft8)
OCLCC_ROTATE(uchar, __builtin_rotateleft8)
OCLCC_ROTATE(short, __builtin_rotateleft16)
OCLCC_ROTATE(ushort, __builtin_rotateleft16)
OCLCC_ROTATE(int, __builtin_rotateleft32)
OCLCC_ROTATE(uint, __builtin_rotateleft32)

// The number of trailing zero bits, and of all bits for zero. A bit behind the type's limits it.
#define OCLCC_TRAILING_ZEROS(T, WIDE, COUNT, END)                                                  \
  PURE_BUILT_IN T ctz(T x) {                                                                       \
    return (T)COUNT((WIDE)x | END);                                                                \
  }                                                                                                \
  MAP1(ctz, T, T)
OCLCC_TRAILING_ZEROS(char, uint, __builtin_ctz, 0x100u)
OCLCC_TRAILING_ZEROS(uchar, uint, __builtin_ctz, 0x100u)
OCLCC_TRAILING_ZEROS(short, uint, __builtin_ctz, 0x10000u)
OCLCC_TRAILING_ZEROS(ushort, uint, __builtin_ctz, 0x10000u)
PART int oclcc_trailing_zeros_u32(uint x) {
  return x == 0 ? 32 : __builtin_ctz(x);
}
PART int oclcc_trailing_zeros_u64(ulong x) {
  return x == 0 ? 64 : __builtin_ctzl(x);
}
OCLCC_TRAILING_ZEROS(int, uint, oclcc_trailing_zeros_u32, 0)
OCLCC_TRAILING_ZEROS(uint, uint, oclcc_trailing_zeros_u32, 0)
OCLCC_TRAILING_ZEROS(long, ulong, oclcc_trailing_zeros_u64, 0)
OCLCC_TRAILING_ZEROS(ulong, ulong, oclcc_trailing_zeros_u64, 0)

// The difference of int and long does not fit the type, and signed overflow is undefined in IR.
#define OCLCC_DISTANCE(T, U)                                                                       \
  PURE_BUILT_IN U abs_diff(T a, T b) {                                                             \
    return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a);                                            \
  }                                                                                                \
  MAP2(abs_diff, U, T, T)
OCLCC_DISTANCE(char, uchar)
OCLCC_DISTANCE(uchar, uchar)
OCLCC_DISTANCE(short, ushort)
OCLCC_DISTANCE(ushort, ushort)
OCLCC_DISTANCE(int, uint)
OCLCC_DISTANCE(uint, uint)
OCLCC_DISTANCE(long, ulong)
OCLCC_DISTANCE(ulong, ulong)

// The sum of three fits the wide type, and the nearest number of T is the result.
#define OCLCC_MAD_SAT_NARROW(T, WIDE, LOW, HIGH)                                                   \
  PURE_BUILT_IN T mad_sat(T a, T b, T c) {                                                         \
    const WIDE sum = (WIDE)a * (WIDE)b + (WIDE)c;                                                  \
    return (T)OCLCC_AT_MOST(OCLCC_AT_LEAST(sum, LOW), HIGH);                                       \
  }                                                                                                \
  MAP3(mad_sat, T, T, T, T)
OCLCC_MAD_SAT_NARROW(char, int, -128, 127)
OCLCC_MAD_SAT_NARROW(uchar, uint, 0, 255)
OCLCC_MAD_SAT_NARROW(short, int, -32768, 32767)
OCLCC_MAD_SAT_NARROW(ushort, uint, 0, 65535)
OCLCC_MAD_SAT_NARROW(int, long, -0x80000000L, 0x7fffffffL)
OCLCC_MAD_SAT_NARROW(uint, ulong, 0, 0xffffffffUL)
PURE_BUILT_IN long mad_sat(long a, long b, long c) {
  // clang converts to this type explicitly only.
  const __int128 exact = (__int128)a * (__int128)b + (__int128)c;
  const long high = (long)(exact >> 64);
  const long low = (long)exact;
  return high == low >> 63 ? low : (high >> 63) ^ (long)(~0UL >> 1);
}
PURE_BUILT_IN ulong mad_sat(ulong a, ulong b, ulong c) {
  const ulong low = a * b + c;
  return oclcc_mul_hi_u64(a, b) != 0 || low < c ? ~0UL : low;
}
MAP3(mad_sat, long, long, long, long)
MAP3(mad_sat, ulong, ulong, ulong, ulong)

PURE_BUILT_IN long mul_hi(long a, long b) {
  return (long)(((__int128)a * b) >> 64);
}
PURE_BUILT_IN ulong mul_hi(ulong a, ulong b) {
  return oclcc_mul_hi_u64(a, b);
}
MAP2(mul_hi, long, long, long)
MAP2(mul_hi, ulong, ulong, ulong)

// Beyond 24 bits the results may be any: the product of 32 bits is the fastest.
EACH2(mul24, int, int, int, (a * b))
EACH2(mul24, uint, uint, uint, (a * b))
EACH3(mad24, int, int, int, int, (a * b) + c)
EACH3(mad24, uint, uint, uint, uint, (a * b) + c)

// Sums of less than 32 bits fit int. clang's function does not know narrow scalars, which become
// int.
#define OCLCC_SATURATING_VECTORS(N, T)                                                             \
  PURE_BUILT_IN T##N add_sat(T##N a, T##N b) {                                                     \
    return __builtin_elementwise_add_sat(a, b);                                                    \
  }                                                                                                \
  PURE_BUILT_IN T##N sub_sat(T##N a, T##N b) {                                                     \
    return __builtin_elementwise_sub_sat(a, b);                                                    \
  }
#define OCLCC_SATURATING_NARROW(T, LOW, HIGH)                                                      \
  PURE_BUILT_IN T add_sat(T a, T b) {                                                              \
    return (T)oclcc_limit_int(a + b, LOW, HIGH);                                                   \
  }                                                                                                \
  PURE_BUILT_IN T sub_sat(T a, T b) {                                                              \
    return (T)oclcc_limit_int(a - b, LOW, HIGH);                                                   \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_SATURATING_VECTORS, T)
OCLCC_SATURATING_NARROW(char, -128, 127)
OCLCC_SATURATING_NARROW(uchar, 0, 255)
OCLCC_SATURATING_NARROW(short, -32768, 32767)
OCLCC_SATURATING_NARROW(ushort, 0, 65535)
OCLCC_SIZES(OCLCC_SATURATING_VECTORS, int)
OCLCC_SIZES(OCLCC_SATURATING_VECTORS, uint)
OCLCC_SIZES(OCLCC_SATURATING_VECTORS, long)
OCLCC_SIZES(OCLCC_SATURATING_VECTORS, ulong)

// a + b is twice the bits of both, and those of one. An arithmetic shift rounds down.
#define OCLCC_AVERAGES(T)                                                                          \
  EACH2(hadd, T, T, T, (a & b) + ((a ^ b) >> 1))                                                   \
  EACH2(rhadd, T, T, T, (a | b) - ((a ^ b) >> 1))
OCLCC_AVERAGES(char)
OCLCC_AVERAGES(uchar)
OCLCC_AVERAGES(short)
OCLCC_AVERAGES(ushort)
OCLCC_AVERAGES(int)
OCLCC_AVERAGES(uint)
OCLCC_AVERAGES(long)
OCLCC_AVERAGES(ulong)

#define OCLCC_ABS(N, T, U)                                                                         \
  PURE_BUILT_IN U##N abs(T##N x) {                                                                 \
    return __builtin_astype((T##N)__builtin_elementwise_abs(x), U##N);                             \
  }
OCLCC_SIZES(OCLCC_ABS, char, uchar)
OCLCC_SIZES(OCLCC_ABS, short, ushort)
OCLCC_SIZES(OCLCC_ABS, int, uint)
OCLCC_SIZES(OCLCC_ABS, long, ulong)
EACH1(abs, uchar, uchar, a)
EACH1(abs, ushort, ushort, a)
EACH1(abs, uint, uint, a)
EACH1(abs, ulong, ulong, a)

// U has the bits of T, of which there are BITS.
#define OCLCC_COUNTS(T, U, BITS)                                                                   \
  PURE_BUILT_IN T clz(T x) {                                                                       \
    return (T)(x == 0 ? BITS : __builtin_clz((U)x) - (32 - BITS));                                 \
  }                                                                                                \
  MAP1(clz, T, T)                                                                                  \
  PURE_BUILT_IN T popcount(T x) {                                                                  \
    return (T)__builtin_popcount((U)x);                                                            \
  }                                                                                                \
  MAP1(popcount, T, T)
#define OCLCC_LONG_COUNTS(T)                                                                       \
  PURE_BUILT_IN T clz(T x) {                                                                       \
    return x == 0 ? 64 : __builtin_clzl((ulong)x);                                                 \
  }                                                                                                \
  MAP1(clz, T, T)                                                                                  \
  PURE_BUILT_IN T popcount(T x) {                                                                  \
    return __builtin_popcountl((ulong)x);                                                          \
  }                                                                                                \
  MAP1(popcount, T, T)
OCLCC_COUNTS(char, uchar, 8)
OCLCC_COUNTS(uchar, uchar, 8)
OCLCC_COUNTS(short, ushort, 16)
OCLCC_COUNTS(ushort, ushort, 16)
OCLCC_COUNTS(int, uint, 32)
OCLCC_COUNTS(uint, uint, 32)
OCLCC_LONG_COUNTS(long)
OCLCC_LONG_COUNTS(ulong)

#define OCLCC_UPSAMPLE_(N, WIDE, T, U, BITS)                                                       \
  PURE_BUILT_IN WIDE##N upsample(T##N high, U##N low) {                                            \
    return OCLCC_AS_WIDE(N, high, WIDE) << BITS | OCLCC_AS_WIDE(N, low, WIDE);                     \
  }
#define OCLCC_AS_WIDE(N, X, WIDE) __builtin_convertvector(X, WIDE##N)
#define OCLCC_UPSAMPLE(WIDE, T, U, BITS)                                                           \
  PURE_BUILT_IN WIDE upsample(T high, U low) {                                                     \
    return (WIDE)((WIDE)high << BITS | (WIDE)low);                                                 \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_UPSAMPLE_, WIDE, T, U, BITS)
OCLCC_UPSAMPLE(short, char, uchar, 8)
OCLCC_UPSAMPLE(ushort, uchar, uchar, 8)
OCLCC_UPSAMPLE(int, short, ushort, 16)
OCLCC_UPSAMPLE(uint, ushort, ushort, 16)
OCLCC_UPSAMPLE(long, int, uint, 32)
OCLCC_UPSAMPLE(ulong, uint, uint, 32)

// LETTER is the constraint of a register of BITS.
#define OCLCC_ATOMIC1(NAME, T, SPACE, LETTER, OPERATION, OPERAND)                                  \
  BUILT_IN __attribute__((always_inline)) T NAME(volatile SPACE T* p, T value) {                   \
    T old;                                                                                         \
    __asm__ volatile("atom." OPERATION " %0, [%1], %2;"                                            \
                     : "=" LETTER(old)                                                             \
                     : "l"(p), LETTER(OPERAND)                                                     \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
#define OCLCC_ATOMIC0(NAME, T, SPACE, ADD, AMOUNT)                                                 \
  BUILT_IN __attribute__((always_inline)) T NAME(volatile SPACE T* p) {                            \
    return ADD(p, AMOUNT);                                                                         \
  }
#define OCLCC_ATOMICS(PREFIX, T, U, SPACE, STATE, SIGN, LETTER, BITS)                              \
  OCLCC_ATOMIC1(PREFIX##add, T, SPACE, LETTER, STATE "add.u" BITS, value)                          \
  OCLCC_ATOMIC1(PREFIX##sub, T, SPACE, LETTER, STATE "add.u" BITS, (T)(0 - (U)value))              \
  OCLCC_ATOMIC1(PREFIX##xchg, T, SPACE, LETTER, STATE "exch.b" BITS, value)                        \
  OCLCC_ATOMIC1(PREFIX##min, T, SPACE, LETTER, STATE "min." SIGN BITS, value)                      \
  OCLCC_ATOMIC1(PREFIX##max, T, SPACE, LETTER, STATE "max." SIGN BITS, value)                      \
  OCLCC_ATOMIC1(PREFIX##and, T, SPACE, LETTER, STATE "and.b" BITS, value)                          \
  OCLCC_ATOMIC1(PREFIX## or, T, SPACE, LETTER, STATE "or.b" BITS, value)                           \
  OCLCC_ATOMIC1(PREFIX## xor, T, SPACE, LETTER, STATE "xor.b" BITS, value)                         \
  OCLCC_ATOMIC0(PREFIX##inc, T, SPACE, PREFIX##add, (T)1)                                          \
  OCLCC_ATOMIC0(PREFIX##dec, T, SPACE, PREFIX##add, (T) ~(U)0)                                     \
  BUILT_IN __attribute__((always_inline))                                                          \
  T PREFIX##cmpxchg(volatile SPACE T* p, T expected, T value) {                                    \
    T old;                                                                                         \
    __asm__ volatile("atom." STATE "cas.b" BITS " %0, [%1], %2, %3;"                               \
                     : "=" LETTER(old)                                                             \
                     : "l"(p), LETTER(expected), LETTER(value)                                     \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
#define OCLCC_ATOMICS_IN(SPACE, STATE)                                                             \
  OCLCC_ATOMICS(atom_, long, ulong, SPACE, STATE, "s", "l", "64")                                  \
  OCLCC_ATOMICS(atom_, ulong, ulong, SPACE, STATE, "u", "l", "64")                                 \
  OCLCC_ATOMICS(atom_, int, uint, SPACE, STATE, "s", "r", "32")                                    \
  OCLCC_ATOMICS(atom_, uint, uint, SPACE, STATE, "u", "r", "32")                                   \
  OCLCC_ATOMICS(atomic_, int, uint, SPACE, STATE, "s", "r", "32")                                  \
  OCLCC_ATOMICS(atomic_, uint, uint, SPACE, STATE, "u", "r", "32")                                 \
  BUILT_IN __attribute__((always_inline)) float atomic_xchg(volatile SPACE float* p,               \
                                                            float value) {                         \
    return AS_FLOAT(atomic_xchg((volatile SPACE uint*)p, AS_UINT(value)));                         \
  }
OCLCC_ATOMICS_IN(__global, "global.")
OCLCC_ATOMICS_IN(__local, "shared.")
