// Conversions between integers and floating-point numbers with a rounding mode or saturation, and
// vstore_half. Each is an instruction of the device (PTX ISA, cvt).

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

// Assembler text, because clang's functions for instructions of 64-bit integers are of long long,
// which has 128 bits in OpenCL C, and because LLVM replaces its functions of 32 bits that round to
// zero with conversions in C: those of integers round to nearest, and those to integers are undefined
// beyond the type.
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
#define OCLCC_CVT_INTEGERS(MODE)                                                                   \
  OCLCC_CVT(f2i_##MODE, int, "r", float, "f", "cvt." #MODE "i.s32.f32")                            \
  OCLCC_CVT(f2ui_##MODE, uint, "r", float, "f", "cvt." #MODE "i.u32.f32")                          \
  OCLCC_CVT(d2i_##MODE, int, "r", double, "d", "cvt." #MODE "i.s32.f64")                           \
  OCLCC_CVT(d2ui_##MODE, uint, "r", double, "d", "cvt." #MODE "i.u32.f64")                         \
  OCLCC_CVT(f2ll_##MODE, long, "l", float, "f", "cvt." #MODE "i.s64.f32")                          \
  OCLCC_CVT(f2ull_##MODE, ulong, "l", float, "f", "cvt." #MODE "i.u64.f32")                        \
  OCLCC_CVT(d2ll_##MODE, long, "l", double, "d", "cvt." #MODE "i.s64.f64")                         \
  OCLCC_CVT(d2ull_##MODE, ulong, "l", double, "d", "cvt." #MODE "i.u64.f64")
OCLCC_CVT_INTEGERS(rn)
OCLCC_CVT_INTEGERS(rz)
OCLCC_CVT_INTEGERS(rp)
OCLCC_CVT_INTEGERS(rm)

// To floating point. Without a mode, and with _rte, libclc's are right.
#define OCLCC_ROUND(TO, FROM, INSTRUCTION)                                                         \
  OCLCC_CONVERT(TO, FROM, _rtz, INSTRUCTION##_rz(x))                                               \
  OCLCC_CONVERT(TO, FROM, _rtp, INSTRUCTION##_rp(x))                                               \
  OCLCC_CONVERT(TO, FROM, _rtn, INSTRUCTION##_rm(x))
OCLCC_ROUND(float, int, oclcc_i2f)
OCLCC_ROUND(float, uint, oclcc_ui2f)
OCLCC_ROUND(float, long, oclcc_ll2f)
OCLCC_ROUND(float, ulong, oclcc_ull2f)
OCLCC_ROUND(float, double, __nvvm_d2f)
OCLCC_ROUND(double, long, oclcc_ll2d)
OCLCC_ROUND(double, ulong, oclcc_ull2d)

// To integers, with saturation; those of float to short and char are libclc's. The instructions
// saturate, and convert a NaN to zero if neither type has 64 bits. A conversion of clang is
// undefined beyond the type.
#define OCLCC_SATURATE_MODES(TO, FROM, VALUE)                                                      \
  OCLCC_CONVERT(TO, FROM, _sat, VALUE(rz))                                                         \
  OCLCC_CONVERT(TO, FROM, _sat_rtz, VALUE(rz))                                                     \
  OCLCC_CONVERT(TO, FROM, _sat_rte, VALUE(rn))                                                     \
  OCLCC_CONVERT(TO, FROM, _sat_rtp, VALUE(rp))                                                     \
  OCLCC_CONVERT(TO, FROM, _sat_rtn, VALUE(rm))

PART int oclcc_limit_int(int x, int low, int high) {
  return x < low ? low : (x > high ? high : x);
}
#define OCLCC_INT_OF_FLOAT(MODE) oclcc_f2i_##MODE(x)
#define OCLCC_INT_OF_DOUBLE(MODE) (x != x ? 0 : oclcc_d2i_##MODE(x))
#define OCLCC_UINT_OF_FLOAT(MODE) oclcc_f2ui_##MODE(x)
#define OCLCC_UINT_OF_DOUBLE(MODE) (x != x ? 0 : oclcc_d2ui_##MODE(x))
#define OCLCC_LONG_OF_FLOAT(MODE) (x != x ? 0 : oclcc_f2ll_##MODE(x))
#define OCLCC_LONG_OF_DOUBLE(MODE) (x != x ? 0 : oclcc_d2ll_##MODE(x))
#define OCLCC_ULONG_OF_FLOAT(MODE) (x != x ? 0 : oclcc_f2ull_##MODE(x))
#define OCLCC_ULONG_OF_DOUBLE(MODE) (x != x ? 0 : oclcc_d2ull_##MODE(x))
#define OCLCC_CHAR_OF_DOUBLE(MODE) oclcc_limit_int(OCLCC_INT_OF_DOUBLE(MODE), -128, 127)
#define OCLCC_UCHAR_OF_DOUBLE(MODE) oclcc_limit_int(OCLCC_INT_OF_DOUBLE(MODE), 0, 255)
#define OCLCC_SHORT_OF_DOUBLE(MODE) oclcc_limit_int(OCLCC_INT_OF_DOUBLE(MODE), -32768, 32767)
#define OCLCC_USHORT_OF_DOUBLE(MODE) oclcc_limit_int(OCLCC_INT_OF_DOUBLE(MODE), 0, 65535)
OCLCC_SATURATE_MODES(char, double, OCLCC_CHAR_OF_DOUBLE)
OCLCC_SATURATE_MODES(uchar, double, OCLCC_UCHAR_OF_DOUBLE)
OCLCC_SATURATE_MODES(short, double, OCLCC_SHORT_OF_DOUBLE)
OCLCC_SATURATE_MODES(ushort, double, OCLCC_USHORT_OF_DOUBLE)
OCLCC_SATURATE_MODES(int, float, OCLCC_INT_OF_FLOAT)
OCLCC_SATURATE_MODES(int, double, OCLCC_INT_OF_DOUBLE)
OCLCC_SATURATE_MODES(uint, float, OCLCC_UINT_OF_FLOAT)
OCLCC_SATURATE_MODES(uint, double, OCLCC_UINT_OF_DOUBLE)
OCLCC_SATURATE_MODES(long, float, OCLCC_LONG_OF_FLOAT)
OCLCC_SATURATE_MODES(long, double, OCLCC_LONG_OF_DOUBLE)
OCLCC_SATURATE_MODES(ulong, float, OCLCC_ULONG_OF_FLOAT)
OCLCC_SATURATE_MODES(ulong, double, OCLCC_ULONG_OF_DOUBLE)

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
