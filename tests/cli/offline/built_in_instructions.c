// Instructions of NVIDIA's devices as functions of this machine, for built_in_table.py. Those that
// approximate are exact here, apart from the division, hence only a device shows the errors of the
// functions that use them.
#include <fenv.h>
#include <math.h>

// NAME(T) is the instruction nvvm.WHAT or asm.WHAT.
#define INSTRUCTION(RESULT, NAME, SYMBOL, ...)                                                     \
  RESULT NAME(__VA_ARGS__) __asm__(SYMBOL);                                                        \
  RESULT NAME(__VA_ARGS__)

// long double has every number of double and long: the conversion rounds once.
#define CONVERSION(NAME, SYMBOL, FROM, TO, MODE)                                                   \
  INSTRUCTION(TO, NAME, SYMBOL, FROM value) {                                                      \
    volatile long double exact = value;                                                            \
    fesetround(MODE);                                                                              \
    volatile TO result = (TO)exact;                                                                \
    fesetround(FE_TONEAREST);                                                                      \
    return result;                                                                                 \
  }
#define CONVERSIONS(NAME, SYMBOL, FROM, TO)                                                        \
  CONVERSION(NAME##_rz, SYMBOL("rz"), FROM, TO, FE_TOWARDZERO)                                     \
  CONVERSION(NAME##_rp, SYMBOL("rp"), FROM, TO, FE_UPWARD)                                         \
  CONVERSION(NAME##_rm, SYMBOL("rm"), FROM, TO, FE_DOWNWARD)
#define D2F(MODE) "nvvm.d2f." MODE
#define I2F(MODE) "asm.cvt." MODE ".f32.s32"
#define UI2F(MODE) "asm.cvt." MODE ".f32.u32"
#define LL2F(MODE) "asm.cvt." MODE ".f32.s64"
#define ULL2F(MODE) "asm.cvt." MODE ".f32.u64"
#define LL2D(MODE) "asm.cvt." MODE ".f64.s64"
#define ULL2D(MODE) "asm.cvt." MODE ".f64.u64"
CONVERSIONS(d2f, D2F, double, float)
CONVERSIONS(i2f, I2F, int, float)
CONVERSIONS(ui2f, UI2F, unsigned, float)
CONVERSIONS(ll2f, LL2F, long, float)
CONVERSIONS(ull2f, ULL2F, unsigned long, float)
CONVERSIONS(ll2d, LL2D, long, double)
CONVERSIONS(ull2d, ULL2D, unsigned long, double)

// The result is limited. A NaN is zero, unless a type has 64 bits: then the highest bit is set.
#define TO_INTEGER(NAME, SYMBOL, FROM, TO, LOW, HIGH, NAN_VALUE, MODE)                             \
  INSTRUCTION(TO, NAME, SYMBOL, FROM value) {                                                      \
    if (value != value)                                                                            \
      return NAN_VALUE;                                                                            \
    fesetround(MODE);                                                                              \
    volatile long double exact = value;                                                            \
    const long double rounded = rintl(exact);                                                      \
    fesetround(FE_TONEAREST);                                                                      \
    return rounded <= LOW ? (TO)LOW : rounded >= HIGH ? (TO)HIGH : (TO)rounded;                    \
  }
#define TO_INTEGERS(NAME, SYMBOL, ZERO, FROM, TO, LOW, HIGH, NAN_VALUE)                            \
  TO_INTEGER(NAME##_rn, SYMBOL("rn"), FROM, TO, LOW, HIGH, NAN_VALUE, FE_TONEAREST)                \
  TO_INTEGER(NAME##_rz, ZERO, FROM, TO, LOW, HIGH, NAN_VALUE, FE_TOWARDZERO)                       \
  TO_INTEGER(NAME##_rp, SYMBOL("rp"), FROM, TO, LOW, HIGH, NAN_VALUE, FE_UPWARD)                   \
  TO_INTEGER(NAME##_rm, SYMBOL("rm"), FROM, TO, LOW, HIGH, NAN_VALUE, FE_DOWNWARD)
#define F2I(MODE) "nvvm.f2i." MODE
#define F2UI(MODE) "nvvm.f2ui." MODE
#define F2LL(MODE) "asm.cvt." MODE "i.s64.f32"
#define F2ULL(MODE) "asm.cvt." MODE "i.u64.f32"
#define D2I(MODE) "nvvm.d2i." MODE
#define D2UI(MODE) "nvvm.d2ui." MODE
#define D2LL(MODE) "asm.cvt." MODE "i.s64.f64"
#define D2ULL(MODE) "asm.cvt." MODE "i.u64.f64"
TO_INTEGERS(f2i, F2I, "asm.cvt.rzi.s32.f32", float, int, -0x1p31L, 2147483647.0L, 0)
TO_INTEGERS(f2ui, F2UI, "asm.cvt.rzi.u32.f32", float, unsigned, 0.0L, 4294967295.0L, 0)
TO_INTEGERS(f2ll, F2LL, "asm.cvt.rzi.s64.f32", float, long, -0x1p63L, 9223372036854775807.0L,
            (long)(1UL << 63))
TO_INTEGERS(f2ull, F2ULL, "asm.cvt.rzi.u64.f32", float, unsigned long, 0.0L,
            18446744073709551615.0L, 1UL << 63)
TO_INTEGERS(d2i, D2I, "asm.cvt.rzi.s32.f64", double, int, -0x1p31L, 2147483647.0L, (int)(1U << 31))
TO_INTEGERS(d2ui, D2UI, "asm.cvt.rzi.u32.f64", double, unsigned, 0.0L, 4294967295.0L, 1U << 31)
TO_INTEGERS(d2ll, D2LL, "asm.cvt.rzi.s64.f64", double, long, -0x1p63L, 9223372036854775807.0L,
            (long)(1UL << 63))
TO_INTEGERS(d2ull, D2ULL, "asm.cvt.rzi.u64.f64", double, unsigned long, 0.0L,
            18446744073709551615.0L, 1UL << 63)

// Numbers of half are multiples of 2^-24 up to 2^-14, and of 2^(exponent - 10) above.
static unsigned short half_of(long double value, int mode) {
  const unsigned short sign = signbit(value) ? 0x8000 : 0;
  if (value != value)
    return 0x7e00;
  if (isinf(value))
    return sign | 0x7c00;
  int exponent = -14;
  if (fabsl(value) >= 0x1p-14L)
    exponent = ilogbl(value);
  fesetround(mode);
  volatile long double units = ldexpl(value, 10 - exponent);
  const long double rounded = fabsl(rintl(units));
  fesetround(FE_TONEAREST);
  const long double bits = rounded + 1024.0L * (exponent + 14);
  if (bits < 0x7c00)
    return sign | (unsigned short)bits;
  const int is_outward = mode == FE_TONEAREST || mode == (sign ? FE_DOWNWARD : FE_UPWARD);
  return sign | (is_outward ? 0x7c00 : 0x7bff);
}
#define TO_HALF(NAME, SYMBOL, MODE)                                                                \
  INSTRUCTION(unsigned short, NAME##_f, "asm.cvt." SYMBOL ".f16.f32", float value) {               \
    return half_of(value, MODE);                                                                   \
  }                                                                                                \
  INSTRUCTION(unsigned short, NAME##_d, "asm.cvt." SYMBOL ".f16.f64", double value) {              \
    return half_of(value, MODE);                                                                   \
  }
TO_HALF(half_rn, "rn", FE_TONEAREST)
TO_HALF(half_rz, "rz", FE_TOWARDZERO)
TO_HALF(half_rp, "rp", FE_UPWARD)
TO_HALF(half_rm, "rm", FE_DOWNWARD)

#define INTEGER_TO_HALF(NAME, SYMBOL, MODE)                                                        \
  INSTRUCTION(unsigned short, NAME##_i, "asm.cvt." SYMBOL ".f16.s32", int value) {                 \
    return half_of(value, MODE);                                                                   \
  }                                                                                                \
  INSTRUCTION(unsigned short, NAME##_u, "asm.cvt." SYMBOL ".f16.u32", unsigned value) {            \
    return half_of(value, MODE);                                                                   \
  }                                                                                                \
  INSTRUCTION(unsigned short, NAME##_l, "asm.cvt." SYMBOL ".f16.s64", long value) {                \
    return half_of(value, MODE);                                                                   \
  }                                                                                                \
  INSTRUCTION(unsigned short, NAME##_ul, "asm.cvt." SYMBOL ".f16.u64", unsigned long value) {      \
    return half_of(value, MODE);                                                                   \
  }
INTEGER_TO_HALF(half_of_rn, "rn", FE_TONEAREST)
INTEGER_TO_HALF(half_of_rz, "rz", FE_TOWARDZERO)
INTEGER_TO_HALF(half_of_rp, "rp", FE_UPWARD)
INTEGER_TO_HALF(half_of_rm, "rm", FE_DOWNWARD)

static double of_half(unsigned short bits) {
  const int field = bits >> 10 & 31;
  const double magnitude =
      field == 31 ? ((bits & 1023) != 0 ? NAN : INFINITY)
                  : ldexp((bits & 1023) + (field != 0 ? 1024 : 0), (field != 0 ? field : 1) - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
// The product is exact in double. The sum is rounded to an odd number, which then rounds as the
// exact sum does.
static unsigned short fused(unsigned short a, unsigned short b, unsigned short c) {
  const double product = of_half(a) * of_half(b), addend = of_half(c);
  double sum = product + addend;
  const double part = sum - product;
  const double rest = (product - (sum - part)) + (addend - part);
  unsigned long bits;
  __builtin_memcpy(&bits, &sum, 8);
  if (isfinite(sum) && rest != 0 && (bits & 1) == 0)
    bits += (rest > 0) == (sum > 0) ? 1 : -1;
  __builtin_memcpy(&sum, &bits, 8);
  return half_of(sum, FE_TONEAREST);
}
INSTRUCTION(unsigned short, fma_half, "asm.fma.rn.f16", unsigned short a, unsigned short b,
            unsigned short c) {
  return fused(a, b, c);
}
INSTRUCTION(unsigned, fma_halves, "asm.fma.rn.f16x2", unsigned a, unsigned b, unsigned c) {
  return (unsigned)fused(a >> 16, b >> 16, c >> 16) << 16 | fused(a, b, c);
}
INSTRUCTION(float, exact_sqrt, "asm.sqrt.rn.f32", float x) {
  return sqrtf(x);
}
INSTRUCTION(float, exact_quotient, "asm.div.rn.f32", float x, float y) {
  return x / y;
}

#define DOT(NAME, SYMBOL, RESULT, A, B)                                                            \
  INSTRUCTION(RESULT, NAME, "asm.dp4a." SYMBOL, unsigned a, unsigned b, RESULT sum) {              \
    for (int i = 0; i < 32; i += 8)                                                                \
      sum += (A)(a >> i) * (B)(b >> i);                                                            \
    return sum;                                                                                    \
  }
DOT(dot_uu, "u32.u32", unsigned, unsigned char, unsigned char)
DOT(dot_ss, "s32.s32", int, signed char, signed char)
DOT(dot_us, "u32.s32", int, unsigned char, signed char)
DOT(dot_su, "s32.u32", int, signed char, unsigned char)

INSTRUCTION(unsigned long, shift_left, "asm.shl.b64", unsigned long value, unsigned distance) {
  return distance > 63 ? 0 : value << distance;
}
INSTRUCTION(unsigned long, shift_right, "asm.shr.b64", unsigned long value, unsigned distance) {
  return distance > 63 ? 0 : value >> distance;
}

// PTX ISA, div.full: an error of at most 2 units in the last place.
INSTRUCTION(float, divide, "nvvm.div.full.f", float a, float b) {
  float quotient = a / b;
  if (isnormal(quotient) && isnormal(quotient * 4) && isnormal(quotient / 4)) {
    unsigned bits_a, bits_b, bits;
    __builtin_memcpy(&bits_a, &a, 4);
    __builtin_memcpy(&bits_b, &b, 4);
    __builtin_memcpy(&bits, &quotient, 4);
    bits += (bits_a * 2654435761u ^ bits_b * 40503u) % 5 - 2;
    __builtin_memcpy(&quotient, &bits, 4);
  }
  return quotient;
}

#define ATOM(NAME, SYMBOL, TYPE, OPERATION)                                                        \
  INSTRUCTION(TYPE, atom_##NAME, "asm.atom." SYMBOL, volatile TYPE* cell, TYPE value) {            \
    const TYPE old = *cell;                                                                        \
    *cell = OPERATION;                                                                             \
    return old;                                                                                    \
  }
#define ATOM_CAS(NAME, SYMBOL, TYPE)                                                               \
  INSTRUCTION(TYPE, atom_##NAME, "asm.atom." SYMBOL, volatile TYPE* cell, TYPE expected,           \
              TYPE value) {                                                                        \
    const TYPE old = *cell;                                                                        \
    if (old == expected)                                                                           \
      *cell = value;                                                                               \
    return old;                                                                                    \
  }
#define ATOMS(UNSIGNED, SIGNED, BITS)                                                              \
  ATOM(add##BITS, "global.add.u" #BITS, UNSIGNED, old + value)                                     \
  ATOM(and##BITS, "global.and.b" #BITS, UNSIGNED, old& value)                                      \
  ATOM(or ##BITS, "global.or.b" #BITS, UNSIGNED, old | value)                                      \
  ATOM(xor##BITS, "global.xor.b" #BITS, UNSIGNED, old ^ value)                                     \
  ATOM(exch##BITS, "global.exch.b" #BITS, UNSIGNED, value)                                         \
  ATOM(min_u##BITS, "global.min.u" #BITS, UNSIGNED, old < value ? old : value)                     \
  ATOM(max_u##BITS, "global.max.u" #BITS, UNSIGNED, old > value ? old : value)                     \
  ATOM(min_s##BITS, "global.min.s" #BITS, SIGNED, old < value ? old : value)                       \
  ATOM(max_s##BITS, "global.max.s" #BITS, SIGNED, old > value ? old : value)                       \
  ATOM_CAS(cas##BITS, "global.cas.b" #BITS, UNSIGNED)
ATOMS(unsigned, int, 32)
ATOMS(unsigned long, long, 64)
INSTRUCTION(void, fence_group, "asm.membar.cta", void) {}
INSTRUCTION(void, fence_device, "asm.membar.gl", void) {}
INSTRUCTION(void, fence_all, "asm.membar.sys", void) {}

// Approximations.
#define APPROXIMATION(NAME, SYMBOL, VALUE)                                                         \
  INSTRUCTION(float, NAME, "nvvm." SYMBOL, float x) {                                              \
    return VALUE;                                                                                  \
  }
static float flushed(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}
APPROXIMATION(cos_approx, "cos.approx.f", cosf(x))
APPROXIMATION(sin_approx, "sin.approx.f", sinf(x))
APPROXIMATION(ex2_approx, "ex2.approx.f", exp2f(x))
APPROXIMATION(ex2_approx_ftz, "ex2.approx.ftz.f", flushed(exp2f(flushed(x))))
APPROXIMATION(lg2_approx, "lg2.approx.f", log2f(x))
APPROXIMATION(lg2_approx_ftz, "lg2.approx.ftz.f", log2f(flushed(x)))
APPROXIMATION(rcp_approx_ftz, "rcp.approx.ftz.f", flushed(1.0f / flushed(x)))
APPROXIMATION(rsqrt_approx, "rsqrt.approx.f", (float)(1.0 / sqrt(x)))
APPROXIMATION(rsqrt_approx_ftz, "rsqrt.approx.ftz.f", flushed((float)(1.0 / sqrt(flushed(x)))))
APPROXIMATION(sqrt_approx, "sqrt.approx.f", sqrtf(x))
// 20 bits, and no subnormals.
INSTRUCTION(double, rcp_approx_ftz_d, "nvvm.rcp.approx.ftz.d", double x) {
  return (float)(1.0 / x) == 0 || isinf((float)(1.0 / x)) ? 1.0 / x : (float)(1.0 / x);
}
INSTRUCTION(double, rsqrt_approx_d, "nvvm.rsqrt.approx.d", double x) {
  return 1.0 / sqrt(x);
}
INSTRUCTION(float, div_approx, "nvvm.div.approx.f", float x, float y) {
  return fabsf(y) > 0x1p126f && !isinf(y) && !isinf(x) ? x * 0.0f : x / y;
}
