// rotate, mad_hi, conversions that libclc gets wrong, and the 64-bit atomic functions of
// cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics. They are relaxed, as all of OpenCL
// C 1.2's.

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

// Saturating conversions of NaN are zero.
#define OCLCC_SATURATE(NAME, T, LOW, HIGH, ROUNDED)                                                \
  PURE_BUILT_IN T NAME(double x) {                                                                 \
    const double r = ROUNDED(x);                                                                   \
    return x != x ? (T)0 : (T)(int)(r < LOW ? LOW : (r > HIGH ? HIGH : r));                        \
  }
#define OCLCC_SATURATE_MODES(T, LOW, HIGH)                                                         \
  OCLCC_SATURATE(convert_##T##_sat, T, LOW, HIGH, __builtin_trunc)                                 \
  OCLCC_SATURATE(convert_##T##_sat_rtz, T, LOW, HIGH, __builtin_trunc)                             \
  OCLCC_SATURATE(convert_##T##_sat_rte, T, LOW, HIGH, __builtin_rint)                              \
  OCLCC_SATURATE(convert_##T##_sat_rtp, T, LOW, HIGH, __builtin_ceil)                              \
  OCLCC_SATURATE(convert_##T##_sat_rtn, T, LOW, HIGH, __builtin_floor)
OCLCC_SATURATE_MODES(char, -128.0, 127.0)
OCLCC_SATURATE_MODES(uchar, 0.0, 255.0)

// Conversions to float are single instructions of the device.
PURE_BUILT_IN float convert_float_rtz(double x) {
  return __nvvm_d2f_rz(x);
}
PURE_BUILT_IN float convert_float_rtp(double x) {
  return __nvvm_d2f_rp(x);
}
PURE_BUILT_IN float convert_float_rtn(double x) {
  return __nvvm_d2f_rm(x);
}

// The name of a conversion to a vector has the width inside.
#define OCLCC_CONVERT_VECTOR(N, T, SUFFIX)                                                         \
  PURE_BUILT_IN T##N convert_##T##N##SUFFIX(double##N x) {                                         \
    T##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = convert_##T##SUFFIX(x[i]);                \
    return r;                                                                                      \
  }
#define OCLCC_CONVERT_BYTES(T)                                                                     \
  OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, T, _sat)                                                      \
  OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, T, _sat_rtz)                                                  \
  OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, T, _sat_rte)                                                  \
  OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, T, _sat_rtp)                                                  \
  OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, T, _sat_rtn)
OCLCC_CONVERT_BYTES(char)
OCLCC_CONVERT_BYTES(uchar)
OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, float, _rtz)
OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, float, _rtp)
OCLCC_WIDTHS(OCLCC_CONVERT_VECTOR, float, _rtn)

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
