// Parts of the conversions that make_conversions.py writes, and vstore_half. Conversions between
// integers and floating-point numbers with a rounding mode or saturation are instructions of the
// device (PTX ISA, cvt).

// convert_TO of FROM, and of vectors, whose halves are converted: this makes the least IR.
#define OCLCC_CONVERT(TO, FROM, SUFFIX, VALUE)                                                     \
  PURE_BUILT_IN TO convert_##TO##SUFFIX(FROM x) {                                                  \
    return VALUE;                                                                                  \
  }                                                                                                \
  OCLCC_CONVERT_VECTOR(2, TO, FROM, SUFFIX, , lo, hi, )                                            \
  OCLCC_CONVERT_VECTOR(3, TO, FROM, SUFFIX, 2, lo, z, )                                            \
  OCLCC_CONVERT_VECTOR(4, TO, FROM, SUFFIX, 2, lo, hi, 2)                                          \
  OCLCC_CONVERT_VECTOR(8, TO, FROM, SUFFIX, 4, lo, hi, 4)                                          \
  OCLCC_CONVERT_VECTOR(16, TO, FROM, SUFFIX, 8, lo, hi, 8)
#define OCLCC_CONVERT_VECTOR(N, TO, FROM, SUFFIX, LOW_N, LOW, HIGH, HIGH_N)                        \
  PURE_BUILT_IN TO##N convert_##TO##N##SUFFIX(FROM##N x) {                                         \
    return (TO##N)(convert_##TO##LOW_N##SUFFIX(x.LOW), convert_##TO##HIGH_N##SUFFIX(x.HIGH));      \
  }

// Assembler text where clang's functions do not serve: those for instructions of 64-bit integers
// are of long long, which has 128 bits in OpenCL C, and LLVM replaces those of 32 bits that round
// to zero with conversions in C, of which those of integers round to nearest, and those to integers
// are undefined beyond the type. LLVM does not join loads behind assembler text.
#define OCLCC_CVT(NAME, TO, TO_LETTER, FROM, FROM_LETTER, INSTRUCTION)                             \
  PART BUILT_IN TO oclcc_##NAME(FROM x) {                                                          \
    TO result;                                                                                     \
    __asm__(INSTRUCTION " %0, %1;" : "=" TO_LETTER(result) : FROM_LETTER(x));                      \
    return result;                                                                                 \
  }
#define OCLCC_CVT_FLOATS(MODE)                                                                     \
  OCLCC_CVT(i2f_##MODE, float, "f", int, "r", "cvt." #MODE ".f32.s32")                             \
  OCLCC_CVT(ui2f_##MODE, float, "f", uint, "r", "cvt." #MODE ".f32.u32")                           \
  OCLCC_CVT(ll2f_##MODE, float, "f", long, "l", "cvt." #MODE ".f32.s64")                           \
  OCLCC_CVT(ull2f_##MODE, float, "f", ulong, "l", "cvt." #MODE ".f32.u64")                         \
  OCLCC_CVT(ll2d_##MODE, double, "d", long, "l", "cvt." #MODE ".f64.s64")                          \
  OCLCC_CVT(ull2d_##MODE, double, "d", ulong, "l", "cvt." #MODE ".f64.u64")
OCLCC_CVT_FLOATS(rz)
OCLCC_CVT_FLOATS(rp)
OCLCC_CVT_FLOATS(rm)
#define OCLCC_CVT_LONGS(MODE)                                                                      \
  OCLCC_CVT(f2ll_##MODE, long, "l", float, "f", "cvt." #MODE "i.s64.f32")                          \
  OCLCC_CVT(f2ull_##MODE, ulong, "l", float, "f", "cvt." #MODE "i.u64.f32")                        \
  OCLCC_CVT(d2ll_##MODE, long, "l", double, "d", "cvt." #MODE "i.s64.f64")                         \
  OCLCC_CVT(d2ull_##MODE, ulong, "l", double, "d", "cvt." #MODE "i.u64.f64")
OCLCC_CVT_LONGS(rn)
OCLCC_CVT_LONGS(rz)
OCLCC_CVT_LONGS(rp)
OCLCC_CVT_LONGS(rm)
OCLCC_CVT(f2i_rz, int, "r", float, "f", "cvt.rzi.s32.f32")
OCLCC_CVT(f2ui_rz, uint, "r", float, "f", "cvt.rzi.u32.f32")
OCLCC_CVT(d2i_rz, int, "r", double, "d", "cvt.rzi.s32.f64")
OCLCC_CVT(d2ui_rz, uint, "r", double, "d", "cvt.rzi.u32.f64")
#define OCLCC_NVVM(NAME, TO, FROM)                                                                 \
  PART BUILT_IN TO oclcc_##NAME(FROM x) {                                                          \
    return __nvvm_##NAME(x);                                                                       \
  }
#define OCLCC_NVVM_MODE(MODE)                                                                      \
  OCLCC_NVVM(f2i_##MODE, int, float)                                                               \
  OCLCC_NVVM(f2ui_##MODE, uint, float)                                                             \
  OCLCC_NVVM(d2i_##MODE, int, double)                                                              \
  OCLCC_NVVM(d2ui_##MODE, uint, double)
OCLCC_NVVM_MODE(rn)
OCLCC_NVVM_MODE(rp)
OCLCC_NVVM_MODE(rm)
OCLCC_NVVM(d2f_rz, float, double)
OCLCC_NVVM(d2f_rp, float, double)
OCLCC_NVVM(d2f_rm, float, double)

// convert_TO of FROM by clang's own conversion of VALUE, which is an expression of scalars and
// vectors.
#define OCLCC_COMPONENTS(TO, FROM, SUFFIX, VALUE)                                                  \
  PURE_BUILT_IN TO convert_##TO##SUFFIX(FROM x) {                                                  \
    return (TO)(VALUE);                                                                            \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_COMPONENTS_, TO, FROM, SUFFIX, VALUE)
#define OCLCC_COMPONENTS_(N, TO, FROM, SUFFIX, VALUE)                                              \
  PURE_BUILT_IN TO##N convert_##TO##N##SUFFIX(FROM##N x) {                                         \
    return __builtin_convertvector(VALUE, TO##N);                                                  \
  }
#define OCLCC_EVERY_MODE(TO, FROM, SUFFIX, VALUE)                                                  \
  OCLCC_COMPONENTS(TO, FROM, SUFFIX, VALUE)                                                        \
  OCLCC_COMPONENTS(TO, FROM, SUFFIX##_rte, VALUE)                                                  \
  OCLCC_COMPONENTS(TO, FROM, SUFFIX##_rtz, VALUE)                                                  \
  OCLCC_COMPONENTS(TO, FROM, SUFFIX##_rtp, VALUE)                                                  \
  OCLCC_COMPONENTS(TO, FROM, SUFFIX##_rtn, VALUE)
#define OCLCC_AT_LEAST(X, LOW) __builtin_elementwise_max(X, (__typeof__(X))(LOW))
#define OCLCC_AT_MOST(X, HIGH) __builtin_elementwise_min(X, (__typeof__(X))(HIGH))
#define OCLCC_NUMBER(VALUE) (x != x ? 0 : VALUE)
// Zero for a NaN.
#define OCLCC_SOME_NUMBER(X) (X != X ? (__typeof__(X))0 : X)

PART int oclcc_limit_int(int x, int low, int high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(x, low), high);
}

// vstore_half and vstorea_half: clang has no conversion to half with a rounding mode, hence
// assembler text.

// The bits of vectors of half, by halves as above.
#define OCLCC_HALVES(N, FROM, HALF, LOW, HIGH)                                                     \
  PART BUILT_IN ushort##N HALF(FROM##N x) {                                                        \
    return (ushort##N)(HALF(x.LOW), HALF(x.HIGH));                                                 \
  }
#define OCLCC_HALF_VECTORS(FROM, HALF)                                                             \
  OCLCC_HALVES(2, FROM, HALF, lo, hi)                                                              \
  OCLCC_HALVES(3, FROM, HALF, lo, z)                                                               \
  OCLCC_HALVES(4, FROM, HALF, lo, hi)                                                              \
  OCLCC_HALVES(8, FROM, HALF, lo, hi)                                                              \
  OCLCC_HALVES(16, FROM, HALF, lo, hi)

#define OCLCC_HALF_MODE(MODE)                                                                      \
  OCLCC_CVT(half_##MODE, ushort, "h", float, "f", "cvt." #MODE ".f16.f32")                         \
  OCLCC_CVT(half_##MODE, ushort, "h", double, "d", "cvt." #MODE ".f16.f64")                        \
  OCLCC_HALF_VECTORS(float, oclcc_half_##MODE)                                                     \
  OCLCC_HALF_VECTORS(double, oclcc_half_##MODE)
OCLCC_HALF_MODE(rn)
OCLCC_HALF_MODE(rz)
OCLCC_HALF_MODE(rp)
OCLCC_HALF_MODE(rm)

// Vectors of three components are aligned as those of four.
#define OCLCC_ALIGNED(N) (N == 3 ? 4 : N)
#define OCLCC_STORE_VECTOR(N, SUFFIX, FROM, HALF, SPACE)                                           \
  BUILT_IN void vstore_half##N##SUFFIX(FROM##N x, ulong at, SPACE half* p) {                       \
    const ushort##N bits = HALF(x);                                                                \
    SPACE ushort* to = (SPACE ushort*)p + N * at;                                                  \
    _Pragma("unroll") for (int i = 0; i < N; ++i) to[i] = bits[i];                                 \
  }                                                                                                \
  BUILT_IN void vstorea_half##N##SUFFIX(FROM##N x, ulong at, SPACE half* p) {                      \
    *(SPACE ushort##N*)((SPACE ushort*)p + OCLCC_ALIGNED(N) * at) = HALF(x);                       \
  }
#define OCLCC_STORE(SUFFIX, FROM, HALF, SPACE)                                                     \
  BUILT_IN void vstore_half##SUFFIX(FROM x, ulong at, SPACE half* p) {                             \
    ((SPACE ushort*)p)[at] = HALF(x);                                                              \
  }                                                                                                \
  BUILT_IN void vstorea_half##SUFFIX(FROM x, ulong at, SPACE half* p) {                            \
    ((SPACE ushort*)p)[at] = HALF(x);                                                              \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_STORE_VECTOR, SUFFIX, FROM, HALF, SPACE)
#define OCLCC_STORE_MODE(SUFFIX, FROM, HALF)                                                       \
  OCLCC_STORE(SUFFIX, FROM, HALF, __global)                                                        \
  OCLCC_STORE(SUFFIX, FROM, HALF, __local)                                                         \
  OCLCC_STORE(SUFFIX, FROM, HALF, __private)
#define OCLCC_STORES(SUFFIX, MODE)                                                                 \
  OCLCC_STORE_MODE(SUFFIX, float, oclcc_half_##MODE)                                               \
  OCLCC_STORE_MODE(SUFFIX, double, oclcc_half_##MODE)
OCLCC_STORES(, rn)
OCLCC_STORES(_rte, rn)
OCLCC_STORES(_rtz, rz)
OCLCC_STORES(_rtp, rp)
OCLCC_STORES(_rtn, rm)
