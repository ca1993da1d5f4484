// Functions of integers, and the 64-bit atomic functions of cl_khr_int64_base_atomics and
// cl_khr_int64_extended_atomics. They are relaxed, as all of OpenCL C 1.2's.

#define OCLCC_MAD_HI_NARROW(T, WIDE, BITS)                                                         \
  PURE_BUILT_IN T mad_hi(T a, T b, T c) {                                                          \
    return (T)((((WIDE)a * (WIDE)b) >> BITS) + c);                                                 \
  }                                                                                                \
  MAP3(mad_hi, T, T, T, T)
OCLCC_MAD_HI_NARROW(char, int, 8)
OCLCC_MAD_HI_NARROW(uchar, uint, 8)
OCLCC_MAD_HI_NARROW(short, int, 16)
OCLCC_MAD_HI_NARROW(ushort, uint, 16)
OCLCC_MAD_HI_NARROW(int, long, 32)
OCLCC_MAD_HI_NARROW(uint, ulong, 32)

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

// libclc limits the product before it adds, and so loses that of long.
PURE_BUILT_IN long mad_sat(long a, long b, long c) {
  // clang converts to this type explicitly only.
  const __int128 exact = (__int128)a * (__int128)b + (__int128)c;
  const long high = (long)(exact >> 64);
  const long low = (long)exact;
  return high == low >> 63 ? low : (high >> 63) ^ (long)(~0UL >> 1);
}
MAP3(mad_sat, long, long, long, long)

#define OCLCC_ATOMIC1(NAME, T, SPACE, STATE, OPERATION, OPERAND)                                   \
  BUILT_IN __attribute__((always_inline)) T NAME(volatile SPACE T* p, T value) {                   \
    T old;                                                                                         \
    __asm__ volatile("atom." STATE "." OPERATION " %0, [%1], %2;"                                  \
                     : "=l"(old)                                                                   \
                     : "l"(p), "l"(OPERAND)                                                        \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
#define OCLCC_ATOMIC0(NAME, T, SPACE, AMOUNT)                                                      \
  BUILT_IN __attribute__((always_inline)) T NAME(volatile SPACE T* p) {                            \
    return atom_add(p, AMOUNT);                                                                    \
  }
#define OCLCC_ATOMICS(T, SPACE, STATE, SIGN)                                                       \
  OCLCC_ATOMIC1(atom_add, T, SPACE, STATE, "add.u64", value)                                       \
  OCLCC_ATOMIC1(atom_sub, T, SPACE, STATE, "add.u64", (T)(0 - (ulong)value))                       \
  OCLCC_ATOMIC1(atom_xchg, T, SPACE, STATE, "exch.b64", value)                                     \
  OCLCC_ATOMIC1(atom_min, T, SPACE, STATE, "min." SIGN "64", value)                                \
  OCLCC_ATOMIC1(atom_max, T, SPACE, STATE, "max." SIGN "64", value)                                \
  OCLCC_ATOMIC1(atom_and, T, SPACE, STATE, "and.b64", value)                                       \
  OCLCC_ATOMIC1(atom_or, T, SPACE, STATE, "or.b64", value)                                         \
  OCLCC_ATOMIC1(atom_xor, T, SPACE, STATE, "xor.b64", value)                                       \
  OCLCC_ATOMIC0(atom_inc, T, SPACE, (T)1)                                                          \
  OCLCC_ATOMIC0(atom_dec, T, SPACE, (T)~0UL)                                                       \
  BUILT_IN __attribute__((always_inline)) T atom_cmpxchg(volatile SPACE T* p, T expected,          \
                                                         T value) {                                \
    T old;                                                                                         \
    __asm__ volatile("atom." STATE ".cas.b64 %0, [%1], %2, %3;"                                    \
                     : "=l"(old)                                                                   \
                     : "l"(p), "l"(expected), "l"(value)                                           \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
OCLCC_ATOMICS(long, __global, "global", "s")
OCLCC_ATOMICS(ulong, __global, "global", "u")
OCLCC_ATOMICS(long, __local, "shared", "s")
OCLCC_ATOMICS(ulong, __local, "shared", "u")
