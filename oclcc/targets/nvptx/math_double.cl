// Mathematical functions of double.

PART double oclcc_signed_as_d(double v, double x) {
  return AS_DOUBLE(AS_ULONG(v) ^ (AS_ULONG(x) & 0x8000000000000000UL));
}
PART int oclcc_is_finite_d(double x) {
  return (AS_ULONG(x) & 0x7fffffffffffffffUL) < 0x7ff0000000000000UL;
}
#define OCLCC_NAN_D AS_DOUBLE(0x7ff8000000000000UL)
#define OCLCC_INFINITY_D AS_DOUBLE(0x7ff0000000000000UL)

// Adding 1.5 * 2^52 rounds to an integer, which then is in the low bits.
#define OCLCC_ROUND_D 6755399441055744.0

// p * 2^n for p around 1 or larger integers, rounded once: the first product is exact.
PART double oclcc_scale_d(double p, int n) {
  const int half_n = n >> 1;
  return p * AS_DOUBLE((ulong)(half_n + 1023) << 52) * AS_DOUBLE((ulong)(n - half_n + 1023) << 52);
}

// x * 2/pi modulo 4 for finite x >= 2, in units of 2^-62 (first) and 2^-126 (second).
RARE_PART ulong2 oclcc_quadrants_large_d(double x) {
  const ulong bits = AS_ULONG(x);
  const uint position = (uint)(bits >> 52) - 1075 + 62;
  const ulong significand = (bits & 0xfffffffffffffUL) | 0x10000000000000UL;
  const ulong middle = oclcc_two_over_pi_bits(position + 64);
  const ulong carried = oclcc_mul_hi_u64(significand, oclcc_two_over_pi_bits(position + 128));
  ulong2 product;
  product.y = significand * middle + carried;
  product.x = significand * oclcc_two_over_pi_bits(position) +
              oclcc_mul_hi_u64(significand, middle) + (ulong)(product.y < carried);
  return product;
}

PART double oclcc_reduce_d(double x, uint* quadrant) {
  if (x < 524288.0) {
    const double t = __builtin_fma(x, 0x1.45f306dc9c883p-1, OCLCC_ROUND_D);
    const double n = t - OCLCC_ROUND_D;
    *quadrant = (uint)AS_ULONG(t) & 3;
    double r = __builtin_fma(n, -0x1.921fb54442d18p+0, x);
    r = __builtin_fma(n, -0x1.1a62633145c07p-54, r);
    return __builtin_fma(n, 0x1.f1976b7ed8fbcp-110, r);
  }
  const ulong2 product = oclcc_quadrants_large_d(x);
  const long fraction = (long)((product.x << 2) | (product.y >> 62));
  const ulong low = product.y << 2;
  *quadrant = ((uint)(product.x >> 62) + (uint)(fraction < 0)) & 3;
  const double f = __builtin_fma((double)low, 0x1p-64, (double)fraction);
  return f * 0x1.921fb54442d18p-64;
}

// The reciprocal of a number of moderate size, by two steps of Newton's method.
PART double oclcc_reciprocal_d(double y) {
  double r = __nvvm_rcp_approx_ftz_d(y);
  r = __builtin_fma(r, __builtin_fma(-y, r, 1.0), r);
  return __builtin_fma(r, __builtin_fma(-y, r, 1.0), r);
}
PART double oclcc_quotient_d(double x, double y) {
  const double r = oclcc_reciprocal_d(y);
  const double q = x * r;
  return __builtin_fma(__builtin_fma(-q, y, x), r, q);
}

PART double oclcc_sin_core_d(double r) {
  const double z = r * r;
  double p = 0x1.5e0333e3ccba1p-33;
  p = __builtin_fma(p, z, -0x1.ae5ff4f957b14p-26);
  p = __builtin_fma(p, z, 0x1.71de3781495ffp-19);
  p = __builtin_fma(p, z, -0x1.a01a019e73325p-13);
  p = __builtin_fma(p, z, 0x1.1111111110b6cp-7);
  p = __builtin_fma(p, z, -0x1.5555555555555p-3);
  return __builtin_fma(r * z, p, r);
}
PART double oclcc_cos_core_d(double r) {
  const double z = r * r;
  double p = -0x1.9075bb669682cp-37;
  p = __builtin_fma(p, z, 0x1.1eeb5de1e2b95p-29);
  p = __builtin_fma(p, z, -0x1.27e4fa0d3726cp-22);
  p = __builtin_fma(p, z, 0x1.a01a019f4671dp-16);
  p = __builtin_fma(p, z, -0x1.6c16c16c16944p-10);
  p = __builtin_fma(p, z, 0x1.5555555555555p-5);
  p = __builtin_fma(p, z, -0.5);
  return __builtin_fma(p, z, 1.0);
}

PART double oclcc_sin_turned_d(double r, uint quadrant) {
  const double v = (quadrant & 1) != 0 ? oclcc_cos_core_d(r) : oclcc_sin_core_d(r);
  return (quadrant & 2) != 0 ? -v : v;
}
PART double oclcc_cos_turned_d(double r, uint quadrant) {
  const double v = (quadrant & 1) != 0 ? oclcc_sin_core_d(r) : oclcc_cos_core_d(r);
  return ((quadrant + 1) & 2) != 0 ? -v : v;
}
PART double oclcc_tan_turned_d(double r, uint quadrant) {
  const double s = oclcc_sin_core_d(r);
  const double c = oclcc_cos_core_d(r);
  return (quadrant & 1) != 0 ? oclcc_quotient_d(-c, s) : oclcc_quotient_d(s, c);
}

PURE_BUILT_IN double sin(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_d(__builtin_fabs(x), &quadrant);
  return oclcc_signed_as_d(oclcc_sin_turned_d(r, quadrant), x);
}
PURE_BUILT_IN double cos(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_d(__builtin_fabs(x), &quadrant);
  return oclcc_cos_turned_d(r, quadrant);
}
PURE_BUILT_IN double tan(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_d(__builtin_fabs(x), &quadrant);
  return oclcc_signed_as_d(oclcc_tan_turned_d(r, quadrant), x);
}
PART double oclcc_sincos_d(double x, double* cosine) {
  if (!oclcc_is_finite_d(x))
    return *cosine = OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_d(__builtin_fabs(x), &quadrant);
  *cosine = oclcc_cos_turned_d(r, quadrant);
  return oclcc_signed_as_d(oclcc_sin_turned_d(r, quadrant), x);
}

// Reduces |x| in half turns, exactly. From 2^53 on all values are even integers.
PART double oclcc_reduce_pi_d(double x, uint* quadrant) {
  const double a = x < 0x1p53 ? x : 0.0;
  const double n = __builtin_rint(a + a);
  *quadrant = (uint)(ulong)n & 3;
  return __builtin_fma(n, -0.5, a);
}
PART double oclcc_times_pi_d(double r) {
  return __builtin_fma(r, 0x1.921fb54442d18p+1, r * 0x1.1a62633145c07p-53);
}

PURE_BUILT_IN double sinpi(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_pi_d(__builtin_fabs(x), &quadrant);
  const double v = oclcc_sin_turned_d(oclcc_times_pi_d(r), quadrant);
  return oclcc_signed_as_d(v == 0.0 ? 0.0 : v, x);
}
PURE_BUILT_IN double cospi(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_pi_d(__builtin_fabs(x), &quadrant);
  const double v = oclcc_cos_turned_d(oclcc_times_pi_d(r), quadrant);
  return v == 0.0 ? 0.0 : v;
}
PURE_BUILT_IN double tanpi(double x) {
  if (!oclcc_is_finite_d(x))
    return OCLCC_NAN_D;
  uint quadrant;
  const double r = oclcc_reduce_pi_d(__builtin_fabs(x), &quadrant);
  double v = oclcc_tan_turned_d(oclcc_times_pi_d(r), quadrant);
  // A zero, or a pole, of an odd number of half turns is negative.
  if (r == 0.0) {
    v = (quadrant & 1) != 0 ? OCLCC_INFINITY_D : 0.0;
    if ((quadrant & 2) != 0)
      v = -v;
  }
  return oclcc_signed_as_d(v, x);
}

MAP1(sin, double, double)
MAP1(cos, double, double)
MAP1(tan, double, double)
MAP1(sinpi, double, double)
MAP1(cospi, double, double)
MAP1(tanpi, double, double)

#define oclcc_sincos oclcc_sincos_d
OCLCC_WITH_POINTER(sincos, double, double)
#undef oclcc_sincos

// x * 2^n with one rounding.
PURE_BUILT_IN double ldexp(double x, int n) {
  const uint biased = (uint)(AS_ULONG(x) >> 52) & 2047;
  if (biased - 1 < 2046 && biased + (uint)n - 1 < 2046)
    return AS_DOUBLE(AS_ULONG(x) + ((ulong)n << 52));
  const ulong magnitude = AS_ULONG(x) & 0x7fffffffffffffffUL;
  if (magnitude == 0 || magnitude >= 0x7ff0000000000000UL)
    return x;
  const ulong sign = AS_ULONG(x) & 0x8000000000000000UL;
  const int subnormal = magnitude < 0x10000000000000UL;
  const int zeros = subnormal ? __builtin_clzl(magnitude) - 11 : 0;
  const ulong fraction = (magnitude << zeros) & 0xfffffffffffffUL;
  const int exponent = subnormal ? 1 - zeros : (int)(magnitude >> 52);
  const int result = exponent + (n < -5000 ? -5000 : (n > 5000 ? 5000 : n));
  if (result >= 2047)
    return AS_DOUBLE(sign | 0x7ff0000000000000UL);
  if (result >= 1)
    return AS_DOUBLE(sign | ((ulong)result << 52) | fraction);
  if (result < -60)
    return AS_DOUBLE(sign);
  return AS_DOUBLE(sign | ((ulong)(result + 64) << 52) | fraction) * 0x1p-64;
}
MAP2(ldexp, double, double, int)
OCLCC_WIDTHS(OCLCC_LDEXP_SCALAR, double)

// The exponent of x, the least int for zero, and the largest for infinity and NaN.
PURE_BUILT_IN int ilogb(double x) {
  const ulong magnitude = AS_ULONG(x) & ~((ulong)1 << 63);
  if (magnitude - 0x10000000000000UL < 0x7ff0000000000000UL - 0x10000000000000UL)
    return (int)(magnitude >> 52) - 1023;
  if (magnitude == 0)
    return (int)0x80000000u;
  return magnitude < 0x10000000000000UL ? -1011 - __builtin_clzl(magnitude) : 0x7fffffff;
}
PURE_BUILT_IN double logb(double x) {
  const int n = ilogb(x);
  if (n == (int)0x80000000u)
    return -OCLCC_INFINITY_D;
  return n == 0x7fffffff ? x * x : (double)n;
}
MAP1(ilogb, int, double)
MAP1(logb, double, double)

// x as a number from 1/2 to 1 times 2^exponent.
PART double oclcc_frexp_d(double x, int* exponent) {
  const ulong magnitude = AS_ULONG(x) & ~((ulong)1 << 63);
  *exponent = 0;
  if (magnitude == 0 || magnitude >= 0x7ff0000000000000UL)
    return x;
  const int subnormal = magnitude < 0x10000000000000UL;
  const ulong bits = AS_ULONG(subnormal ? x * 0x1p54 : x);
  *exponent = (int)((uint)(bits >> 52) & 2047) - (subnormal ? 1076 : 1022);
  return AS_DOUBLE((bits & ~((ulong)2047 << 52)) | ((ulong)1022 << 52));
}
#define oclcc_frexp oclcc_frexp_d
OCLCC_WITH_POINTER(frexp, double, int)
#undef oclcc_frexp

// |x| modulo |y| for finite x and y other than 0, exact, by long division of the significands.
PART double oclcc_modulo_d(double x, double y, uint* quotient) {
  const ulong ax = AS_ULONG(x) & 0x7fffffffffffffffUL;
  const ulong ay = AS_ULONG(y) & 0x7fffffffffffffffUL;
  const ulong one = 0x10000000000000UL;
  // A quotient that is off by one at most gives an exact remainder.
  const double divisor_size = __builtin_fabs(y);
  const double ratio = __builtin_fabs(x) / divisor_size;
  if (ratio < 0x1p30) {
    const double n = __builtin_trunc(ratio);
    const double r = __builtin_fma(-n, divisor_size, __builtin_fabs(x));
    const int above = r >= divisor_size;
    *quotient = (uint)n + (above ? 1 : 0) - (r < 0.0 ? 1 : 0);
    return r < 0.0 ? r + divisor_size : (above ? r - divisor_size : r);
  }
  *quotient = 0;
  if (ax < ay)
    return AS_DOUBLE(ax);
  const int zeros_x = ax < one ? __builtin_clzl(ax) - 11 : 0;
  const int zeros_y = ay < one ? __builtin_clzl(ay) - 11 : 0;
  ulong rest = ax < one ? ax << zeros_x : ((ax & (one - 1)) | one);
  const ulong divisor = ay < one ? ay << zeros_y : ((ay & (one - 1)) | one);
  const int exponent_y = ay < one ? 1 - zeros_y : (int)(ay >> 52);
  int steps = (ax < one ? 1 - zeros_x : (int)(ax >> 52)) - exponent_y;
  uint q = rest >= divisor ? 1 : 0;
  rest -= q * divisor;
  while (steps > 0 && rest != 0) {
    const int bits = steps < 11 ? steps : 11;
    const ulong shifted = rest << bits;
    const uint digit = (uint)(shifted / divisor);
    rest = shifted - digit * divisor;
    q = (q << bits) + digit;
    steps -= bits;
  }
  *quotient = steps < 32 ? q << steps : 0;
  return oclcc_scale_d((double)rest, exponent_y - 1075);
}

PART int oclcc_no_modulo_d(double x, double y) {
  return !oclcc_is_finite_d(x) || y == 0.0 || y != y;
}

PURE_BUILT_IN double fmod(double x, double y) {
  if (oclcc_no_modulo_d(x, y))
    return OCLCC_NAN_D;
  if (!oclcc_is_finite_d(y))
    return x;
  uint quotient;
  return __builtin_copysign(oclcc_modulo_d(x, y, &quotient), x);
}

PART double oclcc_remainder_d(double x, double y, int* quotient) {
  *quotient = 0;
  if (oclcc_no_modulo_d(x, y))
    return OCLCC_NAN_D;
  if (!oclcc_is_finite_d(y))
    return x;
  uint q;
  const double divisor = __builtin_fabs(y);
  double rest = oclcc_modulo_d(x, y, &q);
  const double other = divisor - rest;
  if (rest > other || (rest == other && (q & 1) != 0)) {
    rest -= divisor;
    ++q;
  }
  const int low = (int)(q & 0x7f);
  *quotient = (long)(AS_ULONG(x) ^ AS_ULONG(y)) < 0 ? -low : low;
  return oclcc_signed_as_d(rest, x);
}

PURE_BUILT_IN double remainder(double x, double y) {
  int quotient;
  return oclcc_remainder_d(x, y, &quotient);
}

MAP2(fmod, double, double, double)
MAP2(remainder, double, double, double)

#define oclcc_remainder oclcc_remainder_d
OCLCC_REMQUO(double, __private)
OCLCC_REMQUO(double, __global)
OCLCC_REMQUO(double, __local)
#undef oclcc_remainder

PURE_BUILT_IN double fdim(double x, double y) {
  return x <= y ? 0.0 : x - y;
}
MAP2(fdim, double, double, double)

PURE_BUILT_IN double nextafter(double x, double y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  const ulong bits = AS_ULONG(x);
  if ((bits & 0x7fffffffffffffffUL) == 0) {
    return AS_DOUBLE((AS_ULONG(y) & 0x8000000000000000UL) | 1);
  }
  return AS_DOUBLE((x < y) == (x > 0.0) ? bits + 1 : bits - 1);
}
MAP2(nextafter, double, double, double)

PART double oclcc_limit_d(double x, double low, double high) {
  return x < low ? low : (x > high ? high : x);
}
#define OCLCC_LOG_2_D 0x1.62e42fefa39efp-1
#define OCLCC_LOG_2_LOW_D 0x1.abc9e3b39803fp-56
#define OCLCC_LOG2_E_D 0x1.71547652b82fep+0
#define OCLCC_LOG2_E_LOW_D 0x1.777d0ffda0d24p-56

// e^r for |r| <= log(2) / 2.
PART double oclcc_exp_core_d(double r) {
  double p = 0x1.af389ecfc4b9cp-26;
  p = __builtin_fma(p, r, 0x1.28917c89a43a7p-22);
  p = __builtin_fma(p, r, 0x1.71de0db2f6b19p-19);
  p = __builtin_fma(p, r, 0x1.a019b9149a41cp-16);
  p = __builtin_fma(p, r, 0x1.a01a01a7c2efep-13);
  p = __builtin_fma(p, r, 0x1.6c16c17889ef1p-10);
  p = __builtin_fma(p, r, 0x1.11111111109b5p-7);
  p = __builtin_fma(p, r, 0x1.5555555553d68p-5);
  p = __builtin_fma(p, r, 0x1.5555555555556p-3);
  p = __builtin_fma(p, r, 0.5);
  p = __builtin_fma(p, r, 1.0);
  p = __builtin_fma(p, r, 1.0);
  return p;
}
// 2^n for the n in the low bits of `integer`, from -1022 to 1023.
PART double oclcc_exp2_integer_d(double integer) {
  return AS_DOUBLE((AS_ULONG(integer) << 52) + 0x3ff0000000000000UL);
}
PART double oclcc_exp_reduce_d(double x, double* integer) {
  *integer = __builtin_fma(x, OCLCC_LOG2_E_D, OCLCC_ROUND_D);
  const double n = *integer - OCLCC_ROUND_D;
  return __builtin_fma(n, -OCLCC_LOG_2_LOW_D, __builtin_fma(n, -OCLCC_LOG_2_D, x));
}
PART double oclcc_exp2_reduce_d(double x, double* integer) {
  *integer = x + OCLCC_ROUND_D;
  return (x - (*integer - OCLCC_ROUND_D)) * OCLCC_LOG_2_D;
}
PART double oclcc_exp10_reduce_d(double x, double* integer) {
  *integer = __builtin_fma(x, 0x1.a934f0979a371p+1, OCLCC_ROUND_D);
  const double n = *integer - OCLCC_ROUND_D;
  const double r =
      __builtin_fma(n, 0x1.9dc1da994fd21p-59, __builtin_fma(n, -0x1.34413509f79ffp-2, x));
  return r * 0x1.26bb1bbb55516p+1;
}
// Up to SAFE the result is a normal number; beyond LOW and HIGH it is zero or infinite.
#define OCLCC_EXP_D(NAME, REDUCE, SAFE, LOW, HIGH)                                                 \
  PURE_BUILT_IN double NAME(double x) {                                                            \
    double integer;                                                                                \
    if (__builtin_fabs(x) < SAFE) {                                                                \
      const double r = REDUCE(x, &integer);                                                        \
      return oclcc_exp_core_d(r) * oclcc_exp2_integer_d(integer);                                  \
    }                                                                                              \
    if (x != x)                                                                                    \
      return x;                                                                                    \
    const double r = REDUCE(oclcc_limit_d(x, LOW, HIGH), &integer);                                \
    return oclcc_scale_d(oclcc_exp_core_d(r), (int)(AS_ULONG(integer) - AS_ULONG(OCLCC_ROUND_D))); \
  }                                                                                                \
  MAP1(NAME, double, double)
OCLCC_EXP_D(exp, oclcc_exp_reduce_d, 708.0, -746.0, 710.0)
OCLCC_EXP_D(exp2, oclcc_exp2_reduce_d, 1022.0, -1076.0, 1025.0)
OCLCC_EXP_D(exp10, oclcc_exp10_reduce_d, 307.0, -325.0, 309.0)

PURE_BUILT_IN double expm1(double x) {
  const double limited = oclcc_limit_d(x, -40.0, 710.0);
  double t;
  const double r = oclcc_exp_reduce_d(limited, &t);
  const double n = t - OCLCC_ROUND_D;
  double p = 0x1.1f72fc730b4ffp-29;
  p = __builtin_fma(p, r, 0x1.af4ddd84882fep-26);
  p = __builtin_fma(p, r, 0x1.27e4db67b4303p-22);
  p = __builtin_fma(p, r, 0x1.71de02375656cp-19);
  p = __builtin_fma(p, r, 0x1.a01a01a6d7808p-16);
  p = __builtin_fma(p, r, 0x1.a01a01abe62ddp-13);
  p = __builtin_fma(p, r, 0x1.6c16c16c162d6p-10);
  p = __builtin_fma(p, r, 0x1.11111111100dfp-7);
  p = __builtin_fma(p, r, 0x1.5555555555556p-5);
  p = __builtin_fma(p, r, 0x1.5555555555557p-3);
  p = __builtin_fma(p, r, 0.5);
  p = __builtin_fma(r * r, p, r);
  // 2^n * (p + 1) - 1, halved: 2^1024 is no number.
  const double half_scale = 0.5 * oclcc_exp2_integer_d(n < 1024.0 ? t : OCLCC_ROUND_D + 1023.0);
  const double v = 2.0 * __builtin_fma(half_scale, p, half_scale - 0.5);
  return __builtin_copysign(n < 1024.0 ? v : v * 2.0 + 1.0, x);
}
MAP1(expm1, double, double)

// The logarithm of 1 + f, for 1 + f from sqrt(1/2) to sqrt(2): 2 * atanh(f / (2 + f)).
PART double oclcc_log_core_d(double f) {
  const double s = oclcc_quotient_d(f, 2.0 + f);
  const double z = s * s;
  double p = 0x1.2b584aae78a57p-4;
  p = __builtin_fma(p, z, 0x1.39fe606542ddep-4);
  p = __builtin_fma(p, z, 0x1.7462b4ab2ef6bp-4);
  p = __builtin_fma(p, z, 0x1.c71c62e5800a1p-4);
  p = __builtin_fma(p, z, 0x1.2492492df148dp-3);
  p = __builtin_fma(p, z, 0x1.99999999952e2p-3);
  p = __builtin_fma(p, z, 0x1.5555555555558p-2);
  return f - s * __builtin_fma(-2.0 * z, p, f);
}
// The exponent of a positive normal number whose significand is from sqrt(1/2) to sqrt(2).
PART int oclcc_exponent_d(double x) {
  return ((int)(AS_ULONG(x) >> 32) - 0x3fe6a09e) >> 20;
}
PART double oclcc_log_split_d(double x, double* exponent) {
  const int subnormal = AS_ULONG(x) < 0x10000000000000UL;
  const double y = subnormal ? x * 0x1p54 : x;
  const int n = oclcc_exponent_d(y);
  *exponent = (double)(subnormal ? n - 54 : n);
  return oclcc_log_core_d(AS_DOUBLE(AS_ULONG(y) - ((ulong)n << 52)) - 1.0);
}
// The logarithm of what is not a positive finite number.
PART double oclcc_log_special_d(double x) {
  return x == 0.0 ? -OCLCC_INFINITY_D : (x > 0.0 ? x : OCLCC_NAN_D);
}
#define OCLCC_LOG_D(NAME, RESULT)                                                                  \
  PURE_BUILT_IN double NAME(double x) {                                                            \
    if (!(x > 0.0 && x < OCLCC_INFINITY_D))                                                        \
      return oclcc_log_special_d(x);                                                               \
    double n;                                                                                      \
    const double l = oclcc_log_split_d(x, &n);                                                     \
    return RESULT;                                                                                 \
  }                                                                                                \
  MAP1(NAME, double, double)
OCLCC_LOG_D(log, __builtin_fma(n, OCLCC_LOG_2_D, l))
OCLCC_LOG_D(log2, __builtin_fma(l, OCLCC_LOG2_E_D, __builtin_fma(l, OCLCC_LOG2_E_LOW_D, n)))
OCLCC_LOG_D(log10, __builtin_fma(l, 0x1.bcb7b1526e50ep-2,
                                 __builtin_fma(n, 0x1.34413509f79ffp-2, 0x1.95355baaafad3p-57 * l)))

// log(1 + x), with the rounding error of 1 + x made good.
PURE_BUILT_IN double log1p(double x) {
  const double u = 1.0 + x;
  if (!(u > 0.0 && u < OCLCC_INFINITY_D))
    return oclcc_log_special_d(u);
  const double error = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const int n = oclcc_exponent_d(u);
  const double scale = AS_DOUBLE(0x3ff0000000000000UL - ((ulong)(n < 128 ? n : 128) << 52));
  const double f = __builtin_fma(error, scale, AS_DOUBLE(AS_ULONG(u) - ((ulong)n << 52)) - 1.0);
  const double l = oclcc_log_core_d(n == 0 ? x : f);
  return n == 0 ? __builtin_copysign(l, x) : __builtin_fma((double)n, OCLCC_LOG_2_D, l);
}
MAP1(log1p, double, double)

PURE_BUILT_IN double atanh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a < 1.0))
    return a == 1.0 ? x * OCLCC_INFINITY_D : OCLCC_NAN_D;
  return __builtin_copysign(0.5 * log1p(oclcc_quotient_d(a + a, 1.0 - a)), x);
}
// From 2^60 on 2x takes the place of x + sqrt(x*x +- 1).
PURE_BUILT_IN double asinh(double x) {
  const double a = __builtin_fabs(x);
  const int large = a > 0x1p60;
  const double b = large ? 1.0 : a;
  const double square = b * b;
  const double rest = oclcc_quotient_d(square, 1.0 + __builtin_sqrt(1.0 + square));
  const double v = log1p(large ? a : a + rest);
  return __builtin_copysign(large ? v + OCLCC_LOG_2_D : v, x);
}
PURE_BUILT_IN double acosh(double x) {
  if (!(x >= 1.0))
    return OCLCC_NAN_D;
  const int large = x > 0x1p60;
  const double t = large ? 1.0 : x - 1.0;
  const double v = log1p(large ? x : t + __builtin_sqrt(__builtin_fma(t, t, t + t)));
  return large ? v + OCLCC_LOG_2_D : v;
}
PURE_BUILT_IN double tanh(double x) {
  const double a = __builtin_fabs(x);
  double v;
  if (a < 0.6) {
    const double z = x * x;
    double p = -0x1.2d82313848cb9p-16;
    p = __builtin_fma(p, z, 0x1.5360cc9b7fb61p-14);
    p = __builtin_fma(p, z, -0x1.e61679e864663p-13);
    p = __builtin_fma(p, z, 0x1.3435d9b34b7c7p-11);
    p = __builtin_fma(p, z, -0x1.7d87796bda94ap-10);
    p = __builtin_fma(p, z, 0x1.d6d21339b5358p-9);
    p = __builtin_fma(p, z, -0x1.226e2ca74ba7fp-7);
    p = __builtin_fma(p, z, 0x1.664f484fa10b1p-6);
    p = __builtin_fma(p, z, -0x1.ba1ba1b98153fp-5);
    p = __builtin_fma(p, z, 0x1.1111111110b60p-3);
    p = __builtin_fma(p, z, -0x1.5555555555554p-2);
    v = __builtin_fma(p * z, a, a);
  } else {
    double integer;
    const double r = oclcc_exp_reduce_d(a > 20.0 ? 40.0 : a + a, &integer);
    const double e = oclcc_exp_core_d(r) * oclcc_exp2_integer_d(integer);
    v = __builtin_fma(-2.0, oclcc_reciprocal_d(e + 1.0), 1.0);
  }
  return __builtin_copysign(v, x);
}
MAP1(atanh, double, double)
MAP1(asinh, double, double)
MAP1(acosh, double, double)
MAP1(tanh, double, double)

// The arcus sine of a up to 1/2, or of sqrt((1 - a) / 2) above.
PART double oclcc_asin_core_d(double a) {
  const int outer = a > 0.5;
  const double z = outer ? __builtin_fma(-0.5, a, 0.5) : a * a;
  const double s = outer ? __builtin_sqrt(z) : a;
  double p = 0x1.cd864394d2ff2p-6;
  p = __builtin_fma(p, z, -0x1.603991d6060e0p-7);
  p = __builtin_fma(p, z, 0x1.06b9d26d10838p-6);
  p = __builtin_fma(p, z, 0x1.ff5fc4d14c735p-8);
  p = __builtin_fma(p, z, 0x1.8522ddffa6208p-7);
  p = __builtin_fma(p, z, 0x1.c87265d47ef49p-7);
  p = __builtin_fma(p, z, 0x1.1c593c7b1d958p-6);
  p = __builtin_fma(p, z, 0x1.6e8b2b3b10be4p-6);
  p = __builtin_fma(p, z, 0x1.f1c71f95269afp-6);
  p = __builtin_fma(p, z, 0x1.6db6db684b6a1p-5);
  p = __builtin_fma(p, z, 0x1.3333333336da5p-4);
  p = __builtin_fma(p, z, 0x1.555555555554fp-3);
  return __builtin_fma(s * z, p, s);
}
// A right angle is RIGHT, and angles are in units of 1 / SCALE radians.
#define OCLCC_ARCUS_D(ASIN, ACOS, RIGHT, SCALE)                                                    \
  PURE_BUILT_IN double ASIN(double x) {                                                            \
    const double a = __builtin_fabs(x);                                                            \
    const double r = oclcc_asin_core_d(a);                                                         \
    return __builtin_copysign(a > 0.5 ? __builtin_fma(-2.0 * SCALE, r, RIGHT) : r * SCALE, x);     \
  }                                                                                                \
  PURE_BUILT_IN double ACOS(double x) {                                                            \
    const double a = __builtin_fabs(x);                                                            \
    const double r = oclcc_asin_core_d(a);                                                         \
    const double outer = x > 0.0 ? 2.0 * SCALE * r : __builtin_fma(-2.0 * SCALE, r, 2.0 * RIGHT);  \
    return a > 0.5 ? outer : __builtin_fma(-SCALE, __builtin_copysign(r, x), RIGHT);               \
  }                                                                                                \
  MAP1(ASIN, double, double)                                                                       \
  MAP1(ACOS, double, double)
OCLCC_ARCUS_D(asin, acos, 0x1.921fb54442d18p+0, 1.0)
OCLCC_ARCUS_D(asinpi, acospi, 0.5, 0x1.45f306dc9c883p-2)

// The arcus tangent of t up to 1.
PART double oclcc_atan_core_d(double t) {
  const double z = t * t;
  double p = -0x1.8d087295ab9f4p-17;
  p = __builtin_fma(p, z, 0x1.1f0adb240a1fbp-13);
  p = __builtin_fma(p, z, -0x1.8a2f3ae537bb1p-11);
  p = __builtin_fma(p, z, 0x1.57cc888719aa0p-9);
  p = __builtin_fma(p, z, -0x1.aef1a8e977bf8p-8);
  p = __builtin_fma(p, z, 0x1.a1fe88baf72d4p-7);
  p = __builtin_fma(p, z, -0x1.4b974a27ac39fp-6);
  p = __builtin_fma(p, z, 0x1.c3ac54a572735p-6);
  p = __builtin_fma(p, z, -0x1.147b2825d82f6p-5);
  p = __builtin_fma(p, z, 0x1.3d3f26d5ea7ffp-5);
  p = __builtin_fma(p, z, -0x1.60ebd1489b946p-5);
  p = __builtin_fma(p, z, 0x1.854a7b99af61dp-5);
  p = __builtin_fma(p, z, -0x1.af00bd568a3d2p-5);
  p = __builtin_fma(p, z, 0x1.e1dc0d7679adcp-5);
  p = __builtin_fma(p, z, -0x1.1110bfea8ed5ep-4);
  p = __builtin_fma(p, z, 0x1.3b13aaf4aba4ap-4);
  p = __builtin_fma(p, z, -0x1.745d16f26d0a3p-4);
  p = __builtin_fma(p, z, 0x1.c71c71c472843p-4);
  p = __builtin_fma(p, z, -0x1.249249248c7dap-3);
  p = __builtin_fma(p, z, 0x1.99999999998f9p-3);
  p = __builtin_fma(p, z, -0x1.5555555555555p-2);
  return __builtin_fma(t * z, p, t);
}
#define OCLCC_ATAN_D(ATAN, ATAN2, RIGHT, SCALE)                                                    \
  PURE_BUILT_IN double ATAN(double x) {                                                            \
    const double a = __builtin_fabs(x);                                                            \
    const double t = a > 1.0 ? (a < 0x1p1000 ? oclcc_reciprocal_d(a) : 0.0) : a;                   \
    const double r = oclcc_atan_core_d(t) * SCALE;                                                 \
    return __builtin_copysign(a > 1.0 ? RIGHT - r : r, x);                                         \
  }                                                                                                \
  PURE_BUILT_IN double ATAN2(double y, double x) {                                                 \
    const double a = __builtin_fabs(x);                                                            \
    const double b = __builtin_fabs(y);                                                            \
    const int steep = b > a;                                                                       \
    double t = (steep ? a : b) / (steep ? b : a);                                                  \
    t = a == b ? (a == 0.0 ? 0.0 : 1.0) : t;                                                       \
    double r = oclcc_atan_core_d(t) * SCALE;                                                       \
    r = steep ? RIGHT - r : r;                                                                     \
    r = (long)AS_ULONG(x) < 0 ? 2.0 * RIGHT - r : r;                                               \
    return x != x ? x : __builtin_copysign(r, y);                                                  \
  }                                                                                                \
  MAP1(ATAN, double, double)                                                                       \
  MAP2(ATAN2, double, double, double)
OCLCC_ATAN_D(atan, atan2, 0x1.921fb54442d18p+0, 1.0)
OCLCC_ATAN_D(atanpi, atan2pi, 0.5, 0x1.45f306dc9c883p-2)

// erf of |x| up to 1, where it is x times a polynomial.
PART double oclcc_erf_core_d(double x) {
  const double z = x * x;
  double p = 0x1.05ffd737fb32ep-34;
  p = __builtin_fma(p, z, -0x1.389d4f2641625p-30);
  p = __builtin_fma(p, z, 0x1.f7b4bf3b13964p-27);
  p = __builtin_fma(p, z, -0x1.5f1ecb6f0764cp-23);
  p = __builtin_fma(p, z, 0x1.b9df224ca4b97p-20);
  p = __builtin_fma(p, z, -0x1.f4d1e3183f7aep-17);
  p = __builtin_fma(p, z, 0x1.f9a321d5b8e1ep-14);
  p = __builtin_fma(p, z, -0x1.c02db3dac435fp-11);
  p = __builtin_fma(p, z, 0x1.565bcd0dbaa38p-8);
  p = __builtin_fma(p, z, -0x1.b82ce31284e00p-6);
  p = __builtin_fma(p, z, 0x1.ce2f21a042b30p-4);
  p = __builtin_fma(p, z, -0x1.812746b0379e6p-2);
  p = __builtin_fma(p, z, 0x1.06eba8214db69p-3);
  return __builtin_fma(p, x, x);
}
// From 1 on erf is 1 - e^-(a*a) * polynomial / (1 + 2a).
PURE_BUILT_IN double erf(double x) {
  const double a = __builtin_fabs(x);
  if (a < 1.0)
    return oclcc_erf_core_d(x);
  const double b = a > 6.0 ? 6.0 : a;
  const double r = oclcc_reciprocal_d((b + 2.5) * __builtin_fma(2.0, b, 1.0));
  const double t = (b - 2.5) * __builtin_fma(2.0, b, 1.0) * r;
  double p = -0x1.5b80f0a77179ep-20;
  p = __builtin_fma(p, t, -0x1.00b5767a66af4p-18);
  p = __builtin_fma(p, t, 0x1.55cea390153efp-19);
  p = __builtin_fma(p, t, 0x1.7ad6afe6f5538p-16);
  p = __builtin_fma(p, t, 0x1.a4e135ac07833p-18);
  p = __builtin_fma(p, t, -0x1.dc1122da50ad3p-14);
  p = __builtin_fma(p, t, -0x1.731be7989f1aap-14);
  p = __builtin_fma(p, t, 0x1.4b6a0e88967a4p-11);
  p = __builtin_fma(p, t, 0x1.01e11bb998a8dp-11);
  p = __builtin_fma(p, t, -0x1.1f2f12c3e23c4p-8);
  p = __builtin_fma(p, t, 0x1.e894897324fa5p-11);
  p = __builtin_fma(p, t, 0x1.0c6092a54cb7cp-5);
  p = __builtin_fma(p, t, -0x1.a5c0c8a405060p-4);
  p = __builtin_fma(p, t, 0x1.42d379989ba18p-3);
  p = __builtin_fma(p, t, -0x1.959ac16f856efp-4);
  p = __builtin_fma(p, t, -0x1.f52c5d7e2230ap-4);
  p = __builtin_fma(p, t, 0x1.43cc6f6c9672cp+0);
  double integer;
  const double e = oclcc_exp_core_d(oclcc_exp_reduce_d(-b * b, &integer));
  const double v = e * oclcc_exp2_integer_d(integer) * p * (b + 2.5) * r;
  return __builtin_copysign(1.0 - v, x);
}
MAP1(erf, double, double)

// From 1/2 on erfc is e^-(a*a) * polynomial / (1 + 2a); a * a is in two parts.
PURE_BUILT_IN double erfc(double x) {
  const double a = __builtin_fabs(x);
  if (a < 0.5)
    return 1.0 - oclcc_erf_core_d(x);
  const double b = a > 27.3 ? 27.3 : a;
  const double r = oclcc_reciprocal_d((b + 2.5) * __builtin_fma(2.0, b, 1.0));
  const double t = (b - 2.5) * __builtin_fma(2.0, b, 1.0) * r;
  double p = 0x1.ae4026800dc44p-26;
  p = __builtin_fma(p, t, -0x1.95f6f32eff38ep-26);
  p = __builtin_fma(p, t, -0x1.32c42908ad513p-23);
  p = __builtin_fma(p, t, 0x1.8e925a04d9d88p-26);
  p = __builtin_fma(p, t, 0x1.27d9aa1e245c1p-21);
  p = __builtin_fma(p, t, 0x1.1b172a016c8b6p-21);
  p = __builtin_fma(p, t, -0x1.ac099d650dc1ap-20);
  p = __builtin_fma(p, t, -0x1.1ae287e388775p-18);
  p = __builtin_fma(p, t, 0x1.5e8a0a1e44288p-19);
  p = __builtin_fma(p, t, 0x1.7cd0207766916p-16);
  p = __builtin_fma(p, t, 0x1.a479552bb7027p-18);
  p = __builtin_fma(p, t, -0x1.dc254e35962d9p-14);
  p = __builtin_fma(p, t, -0x1.731bd1032df3ap-14);
  p = __builtin_fma(p, t, 0x1.4b6a48fe1ed74p-11);
  p = __builtin_fma(p, t, 0x1.01e11ca11c063p-11);
  p = __builtin_fma(p, t, -0x1.1f2f1323511c8p-8);
  p = __builtin_fma(p, t, 0x1.e8948962af5f2p-11);
  p = __builtin_fma(p, t, 0x1.0c6092a59e203p-5);
  p = __builtin_fma(p, t, -0x1.a5c0c8a404387p-4);
  p = __builtin_fma(p, t, 0x1.42d379989b650p-3);
  p = __builtin_fma(p, t, -0x1.959ac16f85709p-4);
  p = __builtin_fma(p, t, -0x1.f52c5d7e22304p-4);
  p = __builtin_fma(p, t, 0x1.43cc6f6c9672cp+0);
  const double square = b * b;
  const double error = __builtin_fma(b, b, -square);
  double integer;
  const double e = oclcc_exp_core_d(oclcc_exp_reduce_d(-square, &integer) - error);
  const int n = (int)(AS_ULONG(integer) - AS_ULONG(OCLCC_ROUND_D));
  const double v = oclcc_scale_d(e * p * (b + 2.5) * r, n);
  return x < 0.0 ? 2.0 - v : v;
}
MAP1(erfc, double, double)

// The cube root of a number from 1 to 8: one step of Halley's method from the device's
// approximation, whose square is exact.
PART double oclcc_cbrt_core_d(double m) {
  const double y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f((float)m) * 0x1.555556p-2f);
  const double square = y * y;
  const double divisor = __builtin_fma(2.0 * square, y, m);
  double r = __nvvm_rcp_approx_ftz_d(divisor);
  r = __builtin_fma(r, __builtin_fma(-divisor, r, 1.0), r);
  return __builtin_fma(-y * r, __builtin_fma(square, y, -m), y);
}
PURE_BUILT_IN double cbrt(double x) {
  double a = __builtin_fabs(x);
  if (a == 0.0 || !(a < OCLCC_INFINITY_D))
    return x;
  const int subnormal = a < 0x1p-1022;
  a = subnormal ? a * 0x1p54 : a;
  const uint exponent = (uint)(AS_ULONG(a) >> 52);
  const uint third = exponent / 3;
  const double m = AS_DOUBLE(AS_ULONG(a) - ((ulong)(3 * third) << 52) + 0x3ff0000000000000UL);
  const uint scale = third - 341 + 1023 - (subnormal ? 18 : 0);
  return __builtin_copysign(oclcc_cbrt_core_d(m) * AS_DOUBLE((ulong)scale << 52), x);
}
MAP1(cbrt, double, double)

// a^(y + low) for a positive finite a: 2^((y + low) * log2(a)), with log2(a) in two parts.
PART double oclcc_power_d(double a, double y, double low) {
  const int subnormal = AS_ULONG(a) < 0x10000000000000UL;
  const double b = subnormal ? a * 0x1p54 : a;
  const int exponent = oclcc_exponent_d(b);
  const double n = (double)(subnormal ? exponent - 54 : exponent);
  // log2(1 + f) = 2 / log(2) * atanh(s) for s = f / (2 + f); s and s^3 are in two parts.
  const double f = AS_DOUBLE(AS_ULONG(b) - ((ulong)exponent << 52)) - 1.0;
  const double r = oclcc_reciprocal_d(2.0 + f);
  const double s = f * r;
  const double s_low = __builtin_fma(-s, f, __builtin_fma(-2.0, s, f)) * r;
  const double z = s * s;
  const double z_low = __builtin_fma(2.0 * s, s_low, __builtin_fma(s, s, -z));
  const double u = s * z;
  const double u_low = __builtin_fma(s_low, z, __builtin_fma(s, z_low, __builtin_fma(s, z, -u)));
  double p = 0x1.7d954b4cb89fdp-3;
  p = __builtin_fma(p, z, 0x1.888cad6a7d451p-3);
  p = __builtin_fma(p, z, 0x1.c6969d799b242p-3);
  p = __builtin_fma(p, z, 0x1.0c9a7af1eec9dp-2);
  p = __builtin_fma(p, z, 0x1.484b13e3ebdf3p-2);
  p = __builtin_fma(p, z, 0x1.a61762a7a82e9p-2);
  p = __builtin_fma(p, z, 0x1.2776c50ef9c02p-1);
  const double q = s * 0x1.71547652b82fep+1;
  double q_low = __builtin_fma(s, 0x1.71547652b82fep+1, -q);
  q_low =
      __builtin_fma(s, 0x1.777d0ffda0d24p-55, __builtin_fma(s_low, 0x1.71547652b82fep+1, q_low));
  const double c = u * 0x1.ec709dc3a03fdp-1;
  double c_low = __builtin_fma(u, 0x1.ec709dc3a03fdp-1, -c);
  c_low =
      __builtin_fma(u, 0x1.d27f05548af0cp-55, __builtin_fma(u_low, 0x1.ec709dc3a03fdp-1, c_low));
  c_low = __builtin_fma(u * z, p, c_low);
  // n, q, and c are of decreasing size.
  const double nq = n + q;
  const double nqc = nq + c;
  const double rest = (nq - nqc) + c + ((n - nq) + q + (q_low + c_low));
  const double l = nqc + rest;
  const double l_low = (nqc - l) + rest;
  double e = y * l;
  double e_low = __builtin_fma(y, l_low, __builtin_fma(y, l, -e));
  e_low = __builtin_fma(low, l, e_low);
  const int normal = __builtin_fabs(e) < 1100.0;
  e_low = normal ? e_low : 0.0;
  e = normal ? e : (e > 0.0 ? 1100.0 : -1100.0);
  const double t = e + OCLCC_ROUND_D;
  const double v = oclcc_exp_core_d((e - (t - OCLCC_ROUND_D) + e_low) * OCLCC_LOG_2_D);
  return oclcc_scale_d(v, (int)(AS_ULONG(t) - AS_ULONG(OCLCC_ROUND_D)));
}
// |x|^y from the magnitude of a power, with the rules for zero, infinity, and NaN; `odd` tells
// whether y is an odd integer.
PART double oclcc_power_special_d(double a, double y, double magnitude) {
  if (a == 1.0)
    return 1.0;
  if (a == 0.0 || a == OCLCC_INFINITY_D)
    return (a == 0.0) == (y > 0.0) ? 0.0 : OCLCC_INFINITY_D;
  return magnitude;
}
PURE_BUILT_IN double pow(double x, double y) {
  if (x == 1.0 || y == 0.0)
    return 1.0;
  if (x != x || y != y)
    return x + y;
  const double a = __builtin_fabs(x);
  const double v = oclcc_power_special_d(a, y, oclcc_power_d(a, y, 0.0));
  if ((long)AS_ULONG(x) >= 0)
    return v;
  const double half_y = 0.5 * y;
  const int integral = __builtin_trunc(y) == y;
  if (integral && __builtin_trunc(half_y) != half_y)
    return -v;
  return x < 0.0 && !integral && a != OCLCC_INFINITY_D ? OCLCC_NAN_D : v;
}
PURE_BUILT_IN double powr(double x, double y) {
  const double v = oclcc_power_special_d(x, y, oclcc_power_d(x, y, 0.0));
  const double size = __builtin_fabs(y);
  if (!(x >= 0.0) || y != y || (y == 0.0 && (x == 0.0 || x == OCLCC_INFINITY_D)) ||
      (x == 1.0 && size == OCLCC_INFINITY_D))
    return OCLCC_NAN_D;
  return y == 0.0 ? 1.0 : v;
}
PURE_BUILT_IN double pown(double x, int n) {
  if (n == 0)
    return 1.0;
  const double a = __builtin_fabs(x);
  const double y = (double)n;
  const double v = x != x ? x : oclcc_power_special_d(a, y, oclcc_power_d(a, y, 0.0));
  return (n & 1) != 0 ? __builtin_copysign(v, x) : v;
}
// The rounding error of 1 / n is made good.
PURE_BUILT_IN double rootn(double x, int n) {
  if (n == 0 || x != x || (x < 0.0 && (n & 1) == 0))
    return OCLCC_NAN_D;
  const double a = __builtin_fabs(x);
  const double divisor = (double)n;
  const double y = 1.0 / divisor;
  const double low = __builtin_fma(-y, divisor, 1.0) * y;
  const double v = n == 1 ? a : oclcc_power_special_d(a, y, oclcc_power_d(a, y, low));
  return (n & 1) != 0 ? __builtin_copysign(v, x) : v;
}
MAP2(pow, double, double, double)
MAP2(powr, double, double, double)
MAP2(pown, double, double, int)
MAP2(rootn, double, double, int)

// One step of third order from the device's approximation for a number from 1 to 4.
PURE_BUILT_IN double rsqrt(double x) {
  if (!(x > 0.0 && x < OCLCC_INFINITY_D))
    return x == 0.0 ? __builtin_copysign(OCLCC_INFINITY_D, x) : (x > 0.0 ? 0.0 : OCLCC_NAN_D);
  const int subnormal = x < 0x1p-1022;
  const ulong bits = AS_ULONG(subnormal ? x * 0x1p54 : x);
  const int half_exponent = ((int)(bits >> 52) - 1023) >> 1;
  const double m = AS_DOUBLE(bits - ((ulong)half_exponent << 53));
  const double y = __nvvm_rsqrt_approx_ftz_f((float)m);
  const double error = __builtin_fma(-m * y, y, 1.0);
  const double v = __builtin_fma(y * error, __builtin_fma(0.375, error, 0.5), y);
  return AS_DOUBLE(AS_ULONG(v) - ((ulong)(half_exponent - (subnormal ? 27 : 0)) << 52));
}
MAP1(rsqrt, double, double)

// Adding the number before 1/2 rounds halves away from zero.
PURE_BUILT_IN double round(double x) {
  return __builtin_copysign(__builtin_trunc(__builtin_fabs(x) + 0x1.fffffffffffffp-2), x);
}
MAP1(round, double, double)

PURE_BUILT_IN double cosh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a < 1000.0))
    return a * OCLCC_INFINITY_D;
  // From 709 on e^a may overflow although cosh does not.
  const double e = exp(a < 709.0 ? a : 0.5 * a);
  return a < 709.0 ? __builtin_fma(0.5, e, 0.5 / e) : 0.5 * e * e;
}
PURE_BUILT_IN double sinh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a < 1000.0))
    return x * OCLCC_INFINITY_D;
  double v;
  if (a < 1.0) {
    const double e = expm1(a);
    v = 0.5 * (e + e / (e + 1.0));
  } else {
    const double e = exp(a < 709.0 ? a : 0.5 * a);
    v = a < 709.0 ? __builtin_fma(0.5, e, -0.5 / e) : 0.5 * e * e;
  }
  return __builtin_copysign(v, x);
}
MAP1(cosh, double, double)
MAP1(sinh, double, double)

// gamma(x) for x in [2, 3].
PART double oclcc_gamma_core(double x) {
  const double u = x - 2.5;
  double p = -0x1.61678760e530bp-24;
  p = __builtin_fma(p, u, 0x1.ba42dbab2658fp-23);
  p = __builtin_fma(p, u, -0x1.c189aebb2619bp-22);
  p = __builtin_fma(p, u, 0x1.1e01a1e36520ap-20);
  p = __builtin_fma(p, u, -0x1.57dc4d9963c13p-19);
  p = __builtin_fma(p, u, 0x1.e716924cc6e9dp-18);
  p = __builtin_fma(p, u, -0x1.ad8b2d371d88ep-17);
  p = __builtin_fma(p, u, 0x1.013bdfc057f7bp-14);
  p = __builtin_fma(p, u, 0x1.0886fa7157a6ep-18);
  p = __builtin_fma(p, u, 0x1.8b8fcf944edc5p-11);
  p = __builtin_fma(p, u, 0x1.a55ed2133d31ep-10);
  p = __builtin_fma(p, u, 0x1.5489cc6a2c406p-7);
  p = __builtin_fma(p, u, 0x1.d0a9bc49334e7p-6);
  p = __builtin_fma(p, u, 0x1.c138b89493ef9p-4);
  p = __builtin_fma(p, u, 0x1.03f6d2fa4f4fdp-2);
  p = __builtin_fma(p, u, 0x1.4f224d4b7e016p-1);
  p = __builtin_fma(p, u, 0x1.de9585f1a7093p-1);
  return __builtin_fma(p, u, 0x1.544fa6d47b39p+0);
}

// The factors of Stirling's formula for x >= 10: gamma(x) = half * half * rest.
PART double oclcc_stirling(double x, double* half_power) {
  const double y = 1.0 / x;
  double p = 0x1.4992cb4a8ed2ep-11;
  p = __builtin_fma(p, y, 0x1.27f62bdb39617p-17);
  p = __builtin_fma(p, y, -0x1.3aa4323bb14bcp-11);
  p = __builtin_fma(p, y, 0x1.26f950e541f47p-14);
  p = __builtin_fma(p, y, 0x1.9b0c4e8364a3ep-11);
  p = __builtin_fma(p, y, -0x1.e13c7e087e765p-13);
  p = __builtin_fma(p, y, -0x1.5f72690732d55p-9);
  p = __builtin_fma(p, y, 0x1.c71c71c74fea8p-9);
  p = __builtin_fma(p, y, 0x1.5555555555541p-4);
  p = __builtin_fma(p, y, 1.0);
  *half_power = pow(x, 0.5 * x) * exp(-0.5 * x);
  return p * 0x1.40d931ff62706p+1 * __builtin_sqrt(y);
}

PURE_BUILT_IN double tgamma(double x) {
  if (x != x || x == OCLCC_INFINITY_D)
    return x;
  const double a = __builtin_fabs(x);
  if (a < 0x1p-54)
    return 1.0 / x;
  if (x < 0.0 && __builtin_floor(x) == x)
    return OCLCC_NAN_D;
  if (x > 172.0)
    return OCLCC_INFINITY_D;
  double half_power = 1.0, rest;
  if (a < 10.0) {
    // Exact steps down to [2, 3], or rounded ones up.
    double t = a, product = 1.0;
    while (t >= 3.0) {
      t -= 1.0;
      product *= t;
    }
    rest = product;
    product = 1.0;
    while (t < 2.0) {
      product *= t;
      t += 1.0;
    }
    rest = rest * oclcc_gamma_core(t) / product;
  } else {
    rest = oclcc_stirling(a < 190.0 ? a : 190.0, &half_power);
  }
  if (x > 0.0)
    return rest * half_power * half_power;
  // gamma(x) = -pi / (x * sin(pi x) * gamma(-x)) = -pi / (a * sin(pi a) * gamma(a)).
  const double sine = sinpi(a < 190.0 ? a : a - 2.0 * __builtin_floor(0.5 * a));
  return -0x1.921fb54442d18p+1 / (a * sine * rest) / half_power / half_power;
}
MAP1(tgamma, double, double)

PURE_BUILT_IN float tgamma(float x) {
  return (float)tgamma((double)x);
}
MAP1(tgamma, float, float)

PURE_BUILT_IN double nan(ulong code) {
  return AS_DOUBLE((code & 0x7ffffffffffffUL) | 0x7ff8000000000000UL);
}
MAP1(nan, double, ulong)

PART BUILT_IN double oclcc_fract(double x, double* whole) {
  *whole = __builtin_floor(x);
  const double r = x - *whole;
  const double limited = r < 1.0 ? r : 0x1.fffffffffffffp-1;
  if (x == 0.0 || x - x != 0.0)
    return x == x ? __builtin_copysign(0.0, x) : x;
  return limited;
}
OCLCC_WITH_POINTER(fract, double, double)

PART BUILT_IN double oclcc_modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_fabs(x) == OCLCC_INFINITY_D ? 0.0 : x - *whole, x);
}
OCLCC_WITH_POINTER(modf, double, double)

// Scaled so that no square overflows or vanishes.
PURE_BUILT_IN double hypot(double x, double y) {
  const double a = __builtin_fabs(x);
  const double b = __builtin_fabs(y);
  const double largest = a > b ? a : b;
  const double scale = largest > 0x1p500 ? 0x1p-600 : (largest < 0x1p-500 ? 0x1p600 : 1.0);
  const double back = largest > 0x1p500 ? 0x1p600 : (largest < 0x1p-500 ? 0x1p-600 : 1.0);
  const double c = a * scale;
  const double d = b * scale;
  const double r = __builtin_sqrt(__builtin_fma(c, c, d * d)) * back;
  return a == OCLCC_INFINITY_D || b == OCLCC_INFINITY_D ? OCLCC_INFINITY_D : r;
}
MAP2(hypot, double, double, double)

// The logarithm of gamma, as that of float.
PART double oclcc_lgamma_core_d(double z) {
  double p = 0x1.2703c6effc4ebp-22;
  p = __builtin_fma(p, z, -0x1.37fd97eeee99dp-21);
  p = __builtin_fma(p, z, 0x1.f038cb2f6a913p-21);
  p = __builtin_fma(p, z, -0x1.08fccc794a9c7p-19);
  p = __builtin_fma(p, z, 0x1.2620de1c78d97p-18);
  p = __builtin_fma(p, z, -0x1.3d4ce65b1d70bp-17);
  p = __builtin_fma(p, z, 0x1.5808af19fa483p-16);
  p = __builtin_fma(p, z, -0x1.78d8f868f383fp-15);
  p = __builtin_fma(p, z, 0x1.a127cd91ac95bp-14);
  p = __builtin_fma(p, z, -0x1.d3fd6a9087d23p-13);
  p = __builtin_fma(p, z, 0x1.0b36af5972ed1p-11);
  p = __builtin_fma(p, z, -0x1.38ac5bfce42c1p-10);
  p = __builtin_fma(p, z, 0x1.7add6eadfcc7bp-9);
  p = __builtin_fma(p, z, -0x1.e404fc21d8fe7p-8);
  p = __builtin_fma(p, z, 0x1.51322ac7d8333p-6);
  p = __builtin_fma(p, z, -0x1.13e001a557555p-4);
  p = __builtin_fma(p, z, 0x1.4a34cc4a60fa6p-2);
  return z * __builtin_fma(p, z, 0x1.b0ee6072093cep-2);
}
PART double oclcc_lgamma_positive_d(double x) {
  if (x < 0.5)
    return oclcc_lgamma_core_d(x) - log1p(x) - log(x);
  if (x < 1.5)
    return oclcc_lgamma_core_d(x - 1.0) - log(x);
  if (x < 8.0) {
    double t = x, product = 1.0;
    while (t > 2.5) {
      t -= 1.0;
      product *= t;
    }
    return oclcc_lgamma_core_d(t - 2.0) + log(product);
  }
  const double y = 1.0 / x;
  const double z = y * y;
  double p = 0x1.6fe96381e0680p-3;
  p = __builtin_fma(p, z, -0x1.e4286cb0f5398p-6);
  p = __builtin_fma(p, z, 0x1.a41a41a41a41ap-8);
  p = __builtin_fma(p, z, -0x1.f6ab0d9993c7dp-10);
  p = __builtin_fma(p, z, 0x1.b951e2b18ff23p-11);
  p = __builtin_fma(p, z, -0x1.3813813813814p-11);
  p = __builtin_fma(p, z, 0x1.a01a01a01a01ap-11);
  p = __builtin_fma(p, z, -0x1.6c16c16c16c17p-9);
  p = __builtin_fma(p, z, 0x1.5555555555555p-4);
  return __builtin_fma(x - 0.5, log(x) - 1.0, __builtin_fma(p, y, 0x1.acfe390c97d69p-2));
}
PART BUILT_IN double oclcc_lgamma_r(double x, int* sign) {
  *sign = 1;
  const double a = __builtin_fabs(x);
  const double whole = __builtin_floor(a);
  if (x <= 0.0 && a == whole) {
    *sign = x == 0.0 && (long)AS_ULONG(x) < 0 ? -1 : 1;
    return OCLCC_INFINITY_D;
  }
  const double positive = a == OCLCC_INFINITY_D ? a : oclcc_lgamma_positive_d(a);
  if (!(x < 0.0))
    return positive;
  *sign = 2.0 * __builtin_floor(0.5 * whole) == whole ? -1 : 1;
  if (a < 0x1p-80)
    return positive;
  return log(0x1.921fb54442d18p+1 / (a * __builtin_fabs(sinpi(a)))) - positive;
}
PURE_BUILT_IN double lgamma(double x) {
  int sign;
  return oclcc_lgamma_r(x, &sign);
}
MAP1(lgamma, double, double)
OCLCC_WITH_POINTER(lgamma_r, double, int)
