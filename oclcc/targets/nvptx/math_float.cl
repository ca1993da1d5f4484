// Mathematical functions of float. Errors are within OpenCL's limits for the full profile, and
// subnormal arguments and results are supported.

// p * 2^n for p around 1 and n from -190 to 200, rounded once: the first product is exact.
PART float oclcc_scale(float p, int n) {
  const int half_n = n >> 1;
  return p * AS_FLOAT((uint)(half_n + 127) << 23) * AS_FLOAT((uint)(n - half_n + 127) << 23);
}

// Adding 1.5 * 2^23 rounds to an integer, which then is in the low bits.
#define OCLCC_ROUND_F 12582912.0f

// e^x for |x| <= log(2) / 2.
PART float oclcc_exp_core(float x) {
  float p = 0x1.6d7c4p-10f;
  p = __builtin_fmaf(p, x, 0x1.1276b6p-7f);
  p = __builtin_fmaf(p, x, 0x1.5554a6p-5f);
  p = __builtin_fmaf(p, x, 0x1.5553f6p-3f);
  p = __builtin_fmaf(p, x, 0.5f);
  p = __builtin_fmaf(p, x, 1.0f);
  return __builtin_fmaf(p, x, 1.0f);
}

// x limited to a range; NaN stays NaN.
PART float oclcc_limit(float x, float low, float high) {
  return x < low ? low : (x > high ? high : x);
}

// 2^fraction, and the rounded integer in the low bits of `integer`, of x * (high + low). The
// device's instruction for 2^x is accurate for a reduced argument.
PART float oclcc_exp2_split(float x, float high, float low, float* integer) {
  *integer = __builtin_fmaf(x, high, OCLCC_ROUND_F);
  const float n = *integer - OCLCC_ROUND_F;
  return __nvvm_ex2_approx_ftz_f(__builtin_fmaf(x, low, __builtin_fmaf(x, high, -n)));
}
// 2^n for the n in the low bits of `integer`, from -126 to 127.
PART float oclcc_exp2_integer(float integer) {
  return AS_FLOAT((AS_UINT(integer) << 23) + 0x3f800000u);
}
#define OCLCC_LOG2_E_HIGH 0x1.715476p+0f
#define OCLCC_LOG2_E_LOW 0x1.4ae0cp-26f
#define OCLCC_LOG2_10_HIGH 0x1.a934fp+1f
#define OCLCC_LOG2_10_LOW 0x1.2f346ep-24f

// Up to SAFE the result is a normal number; beyond LOW and HIGH it is zero or infinite.
#define OCLCC_EXP(NAME, HIGH_PART, LOW_PART, SAFE, LOW, HIGH)                                      \
  PURE_BUILT_IN float NAME(float x) {                                                              \
    float integer;                                                                                 \
    if (__builtin_fabsf(x) < SAFE) {                                                               \
      const float p = oclcc_exp2_split(x, HIGH_PART, LOW_PART, &integer);                          \
      return p * oclcc_exp2_integer(integer);                                                      \
    }                                                                                              \
    if (x != x)                                                                                    \
      return x;                                                                                    \
    const float p = oclcc_exp2_split(oclcc_limit(x, LOW, HIGH), HIGH_PART, LOW_PART, &integer);    \
    return oclcc_scale(p, AS_INT(integer) - AS_INT(OCLCC_ROUND_F));                                \
  }                                                                                                \
  MAP1(NAME, float, float)
OCLCC_EXP(exp, OCLCC_LOG2_E_HIGH, OCLCC_LOG2_E_LOW, 87.0f, -105.0f, 90.0f)
OCLCC_EXP(exp10, OCLCC_LOG2_10_HIGH, OCLCC_LOG2_10_LOW, 37.5f, -46.0f, 40.0f)

// A single instruction of the device, accurate over the whole range.
PURE_BUILT_IN float exp2(float x) {
  return __nvvm_ex2_approx_f(x);
}
MAP1(exp2, float, float)

#define OCLCC_LOG_2 0x1.62e43p-1f
PURE_BUILT_IN float expm1(float x) {
  const float limited = oclcc_limit(x, -18.0f, 89.0f);
  const float t = __builtin_fmaf(limited, OCLCC_LOG2_E_HIGH, OCLCC_ROUND_F);
  const float n = t - OCLCC_ROUND_F;
  const float r = __builtin_fmaf(n, 0x1.05c61p-29f, __builtin_fmaf(n, -OCLCC_LOG_2, limited));
  float p = 0x1.a124e4p-13f;
  p = __builtin_fmaf(p, r, 0x1.6d4316p-10f);
  p = __builtin_fmaf(p, r, 0x1.1110ep-7f);
  p = __builtin_fmaf(p, r, 0x1.5554eap-5f);
  p = __builtin_fmaf(p, r, 0x1.555556p-3f);
  p = __builtin_fmaf(p, r, 0.5f);
  p = __builtin_fmaf(r * r, p, r);
  // 2^n * (p + 1) - 1, halved: 2^128 is no number.
  const float half_scale = 0.5f * oclcc_exp2_integer(n < 128.0f ? t : OCLCC_ROUND_F + 127.0f);
  const float v = 2.0f * __builtin_fmaf(half_scale, p, half_scale - 0.5f);
  return __builtin_copysignf(n < 128.0f ? v : v * 2.0f + 1.0f, x);
}
MAP1(expm1, float, float)

// The logarithm of 1 + f, for 1 + f from sqrt(1/2) to sqrt(2).
PART float oclcc_log_core(float f) {
  float p = -0x1.43b246p-4f;
  p = __builtin_fmaf(p, f, 0x1.02814ep-3f);
  p = __builtin_fmaf(p, f, -0x1.0a33eap-3f);
  p = __builtin_fmaf(p, f, 0x1.231ce6p-3f);
  p = __builtin_fmaf(p, f, -0x1.54d03ep-3f);
  p = __builtin_fmaf(p, f, 0x1.999f14p-3f);
  p = __builtin_fmaf(p, f, -0x1.0000cep-2f);
  p = __builtin_fmaf(p, f, 0x1.555554p-2f);
  return __builtin_fmaf(f * f, __builtin_fmaf(f, p, -0.5f), f);
}

// The exponent of a positive normal number whose significand is from sqrt(1/2) to sqrt(2).
PART int oclcc_exponent(float x) {
  return (int)(AS_UINT(x) - 0x3f3504f3u) >> 23;
}
PART float oclcc_log_split(float x, float* exponent) {
  const int subnormal = AS_UINT(x) < 0x800000u;
  const float y = subnormal ? x * 0x1p25f : x;
  const int n = oclcc_exponent(y);
  *exponent = (float)(subnormal ? n - 25 : n);
  return oclcc_log_core(AS_FLOAT(AS_UINT(y) - ((uint)n << 23)) - 1.0f);
}
// The logarithm of what is not a positive finite number.
PART float oclcc_log_special(float x) {
  return x == 0.0f ? -AS_FLOAT(0x7f800000u) : (x > 0.0f ? x : AS_FLOAT(0x7fc00000u));
}
#define OCLCC_LOG(NAME, RESULT)                                                                    \
  PURE_BUILT_IN float NAME(float x) {                                                              \
    float n;                                                                                       \
    const float l = oclcc_log_split(x, &n);                                                        \
    return AS_UINT(x) - 1u < 0x7f7fffffu ? RESULT : oclcc_log_special(x);                          \
  }                                                                                                \
  MAP1(NAME, float, float)
OCLCC_LOG(log, __builtin_fmaf(n, OCLCC_LOG_2, l))
OCLCC_LOG(log2, __builtin_fmaf(l, OCLCC_LOG2_E_HIGH, __builtin_fmaf(l, OCLCC_LOG2_E_LOW, n)))
OCLCC_LOG(log10, __builtin_fmaf(l, 0x1.bcb7b2p-2f,
                                __builtin_fmaf(n, 0x1.344136p-2f, -0x1.5b235ep-27f * l)))

// log(1 + x), with the rounding error of 1 + x made good.
PURE_BUILT_IN float log1p(float x) {
  const float u = 1.0f + x;
  if (!(u > 0.0f && AS_UINT(u) < 0x7f800000u))
    return oclcc_log_special(u);
  const float error = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  const int n = oclcc_exponent(u);
  const float scale = AS_FLOAT(0x3f800000u - ((uint)(n < 64 ? n : 64) << 23));
  const float f = __builtin_fmaf(error, scale, AS_FLOAT(AS_UINT(u) - ((uint)n << 23)) - 1.0f);
  const float l = oclcc_log_core(n == 0 ? x : f);
  return n == 0 ? l : __builtin_fmaf((float)n, OCLCC_LOG_2, l);
}
MAP1(log1p, float, float)

// A quotient with an error below one unit in the last place, for a divisor of moderate size.
PART float oclcc_quotient(float x, float y) {
  const float r = __nvvm_rcp_approx_ftz_f(y);
  const float q = x * r;
  return __builtin_fmaf(__builtin_fmaf(-q, y, x), r, q);
}

PURE_BUILT_IN float atanh(float x) {
  const float a = __builtin_fabsf(x);
  const float q = a > 1.0f ? -2.0f : __nvvm_div_approx_f(a + a, 1.0f - a);
  return __builtin_copysignf(0.5f * log1p(q), x);
}
// From 2^60 on 2x takes the place of x + sqrt(x*x +- 1).
PURE_BUILT_IN float asinh(float x) {
  const float a = __builtin_fabsf(x);
  const float b = a < 0x1p60f ? a : 1.0f;
  const float square = b * b;
  const float root = __nvvm_sqrt_approx_f(1.0f + square);
  const float rest = __nvvm_div_approx_f(square, 1.0f + root);
  const float v = log1p(a < 0x1p60f ? a + rest : a);
  return __builtin_copysignf(a < 0x1p60f ? v : v + OCLCC_LOG_2, x);
}
PURE_BUILT_IN float acosh(float x) {
  if (!(x >= 1.0f))
    return AS_FLOAT(0x7fc00000u);
  const float t = x < 0x1p60f ? x - 1.0f : 1.0f;
  const float root = __nvvm_sqrt_approx_f(__builtin_fmaf(t, t, t + t));
  const float v = log1p(x < 0x1p60f ? t + root : x);
  return x < 0x1p60f ? v : v + OCLCC_LOG_2;
}
MAP1(atanh, float, float)
MAP1(asinh, float, float)
MAP1(acosh, float, float)

PURE_BUILT_IN float tanh(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  float p = -0x1.971e64p-8f;
  p = __builtin_fmaf(p, z, 0x1.59486p-6f);
  p = __builtin_fmaf(p, z, -0x1.b946c2p-5f);
  p = __builtin_fmaf(p, z, 0x1.110ea4p-3f);
  p = __builtin_fmaf(p, z, -0x1.555554p-2f);
  p = __builtin_fmaf(p * z, x, x);
  float integer;
  const float e = oclcc_exp2_split(a > 10.0f ? 10.0f : a, 2.0f * OCLCC_LOG2_E_HIGH,
                                   2.0f * OCLCC_LOG2_E_LOW, &integer);
  const float sum = __builtin_fmaf(e, oclcc_exp2_integer(integer), 1.0f);
  const float v = __builtin_fmaf(-2.0f, __nvvm_rcp_approx_ftz_f(sum), 1.0f);
  return __builtin_copysignf(a < 0.6f ? p : v, x);
}
MAP1(tanh, float, float)

// e^a / 2 for a >= 0.
PART float oclcc_half_exp(float a) {
  float integer;
  const float e =
      oclcc_exp2_split(a > 90.0f ? 90.0f : a, OCLCC_LOG2_E_HIGH, OCLCC_LOG2_E_LOW, &integer);
  return (e + e) * oclcc_exp2_integer(integer - 2.0f);
}
PURE_BUILT_IN float cosh(float x) {
  const float h = oclcc_half_exp(__builtin_fabsf(x));
  return h + __nvvm_div_approx_f(0.25f, h);
}
PURE_BUILT_IN float sinh(float x) {
  const float z = x * x;
  float p = 0x1.78a70ep-19f;
  p = __builtin_fmaf(p, z, 0x1.a009p-13f);
  p = __builtin_fmaf(p, z, 0x1.11111ep-7f);
  p = __builtin_fmaf(p, z, 0x1.555556p-3f);
  p = __builtin_fmaf(p * z, x, x);
  const float a = __builtin_fabsf(x);
  const float h = oclcc_half_exp(a);
  return a < 1.0f ? p : __builtin_copysignf(h - __nvvm_div_approx_f(0.25f, h), x);
}
MAP1(cosh, float, float)
MAP1(sinh, float, float)

// One step of Newton's method refines the device's approximation.
PURE_BUILT_IN float cbrt(float x) {
  float a = __builtin_fabsf(x);
  if (a == 0.0f || !(a < AS_FLOAT(0x7f800000u)))
    return x;
  const int small = a < 0x1p-90f;
  a = small ? a * 0x1p96f : a;
  const float y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(a) * 0x1.555556p-2f);
  const float square = y * y;
  const float v = y - __nvvm_div_approx_f(__builtin_fmaf(square, y, -a), 3.0f * square);
  return __builtin_copysignf(small ? v * 0x1p-32f : v, x);
}
MAP1(cbrt, float, float)

// erf is odd, and 1 - 2^polynomial from 1 on.
PURE_BUILT_IN float erf(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  float p = 0x1.4a569p-14f;
  p = __builtin_fmaf(p, z, -0x1.a45088p-11f);
  p = __builtin_fmaf(p, z, 0x1.54127p-8f);
  p = __builtin_fmaf(p, z, -0x1.b7fabap-6f);
  p = __builtin_fmaf(p, z, 0x1.ce2d1p-4f);
  p = __builtin_fmaf(p, z, -0x1.81273ep-2f);
  p = __builtin_fmaf(p, z, 0x1.06eba8p-3f);
  const float u = (a > 4.0f ? 4.0f : a) - 2.4375f;
  float q = 0x1.3d029ep-19f;
  q = __builtin_fmaf(q, u, -0x1.56185cp-16f);
  q = __builtin_fmaf(q, u, 0x1.f807f6p-14f);
  q = __builtin_fmaf(q, u, -0x1.548abcp-11f);
  q = __builtin_fmaf(q, u, 0x1.b3281cp-9f);
  q = __builtin_fmaf(q, u, -0x1.0ddb64p-6f);
  q = __builtin_fmaf(q, u, -0x1.5bd64ep+0f);
  q = __builtin_fmaf(q, u, -0x1.e3582p+2f);
  q = __builtin_fmaf(q, u, -0x1.592308p+3f);
  return a < 1.0f ? __builtin_fmaf(p, x, x)
                  : __builtin_copysignf(1.0f - __nvvm_ex2_approx_ftz_f(q), x);
}
MAP1(erf, float, float)

// The arcus sine of a up to 1/2, or of sqrt((1 - a) / 2) above.
PART float oclcc_asin_core(float a) {
  const int outer = a > 0.5f;
  const float z = outer ? __builtin_fmaf(-0.5f, a, 0.5f) : a * a;
  const float s = outer ? __nvvm_sqrt_approx_f(z) : a;
  float p = 0x1.37fe16p-5f;
  p = __builtin_fmaf(p, z, 0x1.b311d2p-6f);
  p = __builtin_fmaf(p, z, 0x1.70a6bcp-5f);
  p = __builtin_fmaf(p, z, 0x1.332732p-4f);
  p = __builtin_fmaf(p, z, 0x1.55555ep-3f);
  return __builtin_fmaf(s * z, p, s);
}
// A right angle is RIGHT, and angles are in units of 1 / SCALE radians.
#define OCLCC_ARCUS(ASIN, ACOS, RIGHT, SCALE)                                                      \
  PURE_BUILT_IN float ASIN(float x) {                                                              \
    const float a = __builtin_fabsf(x);                                                            \
    const float r = oclcc_asin_core(a);                                                            \
    return __builtin_copysignf(a > 0.5f ? __builtin_fmaf(-2.0f * SCALE, r, RIGHT) : r * SCALE, x); \
  }                                                                                                \
  PURE_BUILT_IN float ACOS(float x) {                                                              \
    const float a = __builtin_fabsf(x);                                                            \
    const float r = oclcc_asin_core(a);                                                            \
    const float outer =                                                                            \
        x > 0.0f ? 2.0f * SCALE * r : __builtin_fmaf(-2.0f * SCALE, r, 2.0f * RIGHT);              \
    return a > 0.5f ? outer : __builtin_fmaf(-SCALE, __builtin_copysignf(r, x), RIGHT);            \
  }                                                                                                \
  MAP1(ASIN, float, float)                                                                         \
  MAP1(ACOS, float, float)
OCLCC_ARCUS(asin, acos, 0x1.921fb6p+0f, 1.0f)
OCLCC_ARCUS(asinpi, acospi, 0.5f, 0x1.45f306p-2f)

// The arcus tangent of a, or of 1 / a for a > 1.
PART float oclcc_atan_core(float a) {
  const float t = a > 1.0f ? __nvvm_div_approx_f(1.0f, a) : a;
  const float z = t * t;
  float p = 0x1.fad23ap-9f;
  p = __builtin_fmaf(p, z, -0x1.481e44p-6f);
  p = __builtin_fmaf(p, z, 0x1.90b4c4p-5f);
  p = __builtin_fmaf(p, z, -0x1.48139ap-4f);
  p = __builtin_fmaf(p, z, 0x1.bd0fbep-4f);
  p = __builtin_fmaf(p, z, -0x1.23fbfap-3f);
  p = __builtin_fmaf(p, z, 0x1.9992bp-3f);
  p = __builtin_fmaf(p, z, -0x1.55554ep-2f);
  return __builtin_fmaf(t * z, p, t);
}
PURE_BUILT_IN float atan(float x) {
  const float a = __builtin_fabsf(x);
  const float r = oclcc_atan_core(a);
  return __builtin_copysignf(a > 1.0f ? 0x1.921fb6p+0f - r : r, x);
}
PURE_BUILT_IN float atanpi(float x) {
  const float a = __builtin_fabsf(x);
  const float r = oclcc_atan_core(a) * 0x1.45f306p-2f;
  return __builtin_copysignf(a > 1.0f ? 0.5f - r : r, x);
}
MAP1(atan, float, float)
MAP1(atanpi, float, float)

// The angle to the nearer axis, and the sum of right angles. RIGHT and SCALE as above.
#define OCLCC_ATAN2(NAME, RIGHT, SCALE)                                                            \
  PURE_BUILT_IN float NAME(float y, float x) {                                                     \
    const float a = __builtin_fabsf(x);                                                            \
    const float b = __builtin_fabsf(y);                                                            \
    const int steep = b > a;                                                                       \
    float t = (steep ? a : b) / (steep ? b : a);                                                   \
    t = a == b ? (a == 0.0f ? 0.0f : 1.0f) : t;                                                    \
    float r = oclcc_atan_core(t) * SCALE;                                                          \
    r = steep ? RIGHT - r : r;                                                                     \
    r = (int)AS_UINT(x) < 0 ? 2.0f * RIGHT - r : r;                                                \
    return x != x ? x : __builtin_copysignf(r, y);                                                 \
  }                                                                                                \
  MAP2(NAME, float, float, float)
OCLCC_ATAN2(atan2, 0x1.921fb6p+0f, 1.0f)
OCLCC_ATAN2(atan2pi, 0.5f, 0x1.45f306p-2f)

// Adding the number before 1/2 rounds halves away from zero.
PURE_BUILT_IN float round(float x) {
  return __builtin_copysignf(__builtin_truncf(__builtin_fabsf(x) + 0x1.fffffep-2f), x);
}
MAP1(round, float, float)

PURE_BUILT_IN float half_exp(float x) {
  return __nvvm_ex2_approx_f(x * OCLCC_LOG2_E_HIGH);
}
PURE_BUILT_IN float half_exp2(float x) {
  return __nvvm_ex2_approx_f(x);
}
PURE_BUILT_IN float half_exp10(float x) {
  return __nvvm_ex2_approx_f(x * OCLCC_LOG2_10_HIGH);
}
PURE_BUILT_IN float half_log(float x) {
  return log(x);
}
PURE_BUILT_IN float half_log2(float x) {
  return log2(x);
}
PURE_BUILT_IN float half_log10(float x) {
  return log10(x);
}
PURE_BUILT_IN float half_sqrt(float x) {
  return __nvvm_sqrt_approx_f(x);
}
PURE_BUILT_IN float half_rsqrt(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
MAP1(half_exp, float, float)
MAP1(half_exp2, float, float)
MAP1(half_exp10, float, float)
MAP1(half_log, float, float)
MAP1(half_log2, float, float)
MAP1(half_log10, float, float)
MAP1(half_sqrt, float, float)
MAP1(half_rsqrt, float, float)
EACH1(half_recip, float, float, 1.0f / a)
EACH2(half_divide, float, float, float, a / b)

// Trigonometric functions. An argument is reduced to r in [-pi/4, pi/4] and a quadrant.

// 64 zero bits, then the binary digits of 2/pi.
static const __constant ulong oclcc_two_over_pi[22] = {
    0x0000000000000000UL, 0xa2f9836e4e441529UL, 0xfc2757d1f534ddc0UL, 0xdb6295993c439041UL,
    0xfe5163abdebbc561UL, 0xb7246e3a424dd2e0UL, 0x06492eea09d1921cUL, 0xfe1deb1cb129a73eUL,
    0xe88235f52ebb4484UL, 0xe99c7026b45f7e41UL, 0x3991d639835339f4UL, 0x9c845f8bbdf9283bUL,
    0x1ff897ffde05980fUL, 0xef2f118b5a0a6d1fUL, 0x6d367ecf27cb09b7UL, 0x4f463f669e5fea2dUL,
    0x7527bac7ebe5f17bUL, 0x3d0739f78a5292eaUL, 0x6bfb5fb11f8d5d08UL, 0x56033046fc7b6babUL,
    0xf0cfbc209af4361dUL, 0xa9e391615ee61b08UL};

// 64 bits of the table, from a bit position on.
PART ulong oclcc_two_over_pi_bits(uint position) {
  const uint word = position >> 6;
  const uint shift = position & 63;
  const ulong high = oclcc_two_over_pi[word] << shift;
  return shift == 0 ? high : high | (oclcc_two_over_pi[word + 1] >> (64 - shift));
}

// x * 2/pi modulo 4 for finite x >= 2, in units of 2^-62. The window of 2/pi begins at the first
// bit whose product with the significand is not a multiple of 4.
RARE_PART ulong oclcc_quadrants_large(float x) {
  const uint bits = AS_UINT(x);
  const uint position = (bits >> 23) - 150 + 62;
  const ulong significand = (bits & 0x7fffff) | 0x800000;
  return significand * oclcc_two_over_pi_bits(position) +
         oclcc_mul_hi_u64(significand, oclcc_two_over_pi_bits(position + 64));
}

PART float oclcc_reduce(float x, uint* quadrant) {
  if (x < 32768.0f) {
    const float t = __builtin_fmaf(x, 0x1.45f306p-1f, OCLCC_ROUND_F);
    const float n = t - OCLCC_ROUND_F;
    *quadrant = AS_UINT(t) & 3;
    float r = __builtin_fmaf(n, -0x1.921fb6p+0f, x);
    r = __builtin_fmaf(n, 0x1.777a5cp-25f, r);
    return __builtin_fmaf(n, 0x1.ee59dap-50f, r);
  }
  const ulong product = oclcc_quadrants_large(x);
  const long fraction = (long)(product << 2);
  *quadrant = ((uint)(product >> 62) + (uint)(fraction < 0)) & 3;
  return (float)fraction * 0x1.921fb6p-64f;
}

PART float oclcc_sin_core(float r) {
  const float z = r * r;
  const float p =
      __builtin_fmaf(__builtin_fmaf(-0x1.9abc2cp-13f, z, 0x1.110c1p-7f), z, -0x1.555552p-3f);
  return __builtin_fmaf(r * z, p, r);
}

PART float oclcc_cos_core(float r) {
  const float z = r * r;
  float p = 0x1.9bcdc6p-16f;
  p = __builtin_fmaf(p, z, -0x1.6c12bep-10f);
  p = __builtin_fmaf(p, z, 0x1.555554p-5f);
  p = __builtin_fmaf(p, z, -0.5f);
  return __builtin_fmaf(p, z, 1.0f);
}

// Sine and cosine of the reduced argument, turned by the quadrants.
PART float oclcc_sin_turned(float r, uint quadrant) {
  const float v = (quadrant & 1) != 0 ? oclcc_cos_core(r) : oclcc_sin_core(r);
  return (quadrant & 2) != 0 ? -v : v;
}
PART float oclcc_cos_turned(float r, uint quadrant) {
  const float v = (quadrant & 1) != 0 ? oclcc_sin_core(r) : oclcc_cos_core(r);
  return ((quadrant + 1) & 2) != 0 ? -v : v;
}
PART float oclcc_tan_turned(float r, uint quadrant) {
  const float s = oclcc_sin_core(r);
  const float c = oclcc_cos_core(r);
  return (quadrant & 1) != 0 ? oclcc_quotient(-c, s) : oclcc_quotient(s, c);
}

// v with its sign changed if that of x is set.
PART float oclcc_signed_as(float v, float x) {
  return AS_FLOAT(AS_UINT(v) ^ (AS_UINT(x) & 0x80000000u));
}
PART int oclcc_is_finite(float x) {
  return (AS_UINT(x) & 0x7fffffffu) < 0x7f800000u;
}

#define OCLCC_NAN_F AS_FLOAT(0x7fc00000u)
#define OCLCC_INFINITY_F AS_FLOAT(0x7f800000u)

PURE_BUILT_IN float sin(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce(__builtin_fabsf(x), &quadrant);
  return oclcc_signed_as(oclcc_sin_turned(r, quadrant), x);
}
PURE_BUILT_IN float cos(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce(__builtin_fabsf(x), &quadrant);
  return oclcc_cos_turned(r, quadrant);
}
PURE_BUILT_IN float tan(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce(__builtin_fabsf(x), &quadrant);
  return oclcc_signed_as(oclcc_tan_turned(r, quadrant), x);
}
PART float oclcc_sincos(float x, float* cosine) {
  if (!oclcc_is_finite(x))
    return *cosine = OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce(__builtin_fabsf(x), &quadrant);
  *cosine = oclcc_cos_turned(r, quadrant);
  return oclcc_signed_as(oclcc_sin_turned(r, quadrant), x);
}

// Reduces |x| in half turns, exactly. From 2^24 on all values are even integers.
PART float oclcc_reduce_pi(float x, uint* quadrant) {
  const float a = x < 0x1p24f ? x : 0.0f;
  const float n = __builtin_rintf(a + a);
  *quadrant = (uint)n & 3;
  return __builtin_fmaf(n, -0.5f, a);
}
PART float oclcc_times_pi(float r) {
  return __builtin_fmaf(r, 0x1.921fb6p+1f, r * -0x1.777a5cp-24f);
}

PURE_BUILT_IN float sinpi(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce_pi(__builtin_fabsf(x), &quadrant);
  const float v = oclcc_sin_turned(oclcc_times_pi(r), quadrant);
  return oclcc_signed_as(v == 0.0f ? 0.0f : v, x);
}
PURE_BUILT_IN float cospi(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce_pi(__builtin_fabsf(x), &quadrant);
  const float v = oclcc_cos_turned(oclcc_times_pi(r), quadrant);
  return v == 0.0f ? 0.0f : v;
}
PURE_BUILT_IN float tanpi(float x) {
  if (!oclcc_is_finite(x))
    return OCLCC_NAN_F;
  uint quadrant;
  const float r = oclcc_reduce_pi(__builtin_fabsf(x), &quadrant);
  float v = oclcc_tan_turned(oclcc_times_pi(r), quadrant);
  // A zero, or a pole, of an odd number of half turns is negative.
  if (r == 0.0f)
    v = AS_FLOAT(((quadrant & 1) != 0 ? 0x7f800000u : 0u) | ((quadrant & 2) << 30));
  return oclcc_signed_as(v, x);
}

MAP1(sin, float, float)
MAP1(cos, float, float)
MAP1(tan, float, float)
MAP1(sinpi, float, float)
MAP1(cospi, float, float)
MAP1(tanpi, float, float)

PURE_BUILT_IN float half_sin(float x) {
  return sin(x);
}
PURE_BUILT_IN float half_cos(float x) {
  return cos(x);
}
PURE_BUILT_IN float half_tan(float x) {
  return tan(x);
}
MAP1(half_sin, float, float)
MAP1(half_cos, float, float)
MAP1(half_tan, float, float)

// Overloads of a function of T, oclcc_NAME, that also writes a P: to memory of each address space.
#define OCLCC_WITH_POINTER_VECTOR(N, NAME, T, P, SPACE)                                            \
  BUILT_IN T##N NAME(T##N x, SPACE P##N* pointer) {                                                \
    T##N results;                                                                                  \
    P##N written;                                                                                  \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      P one;                                                                                       \
      results[i] = oclcc_##NAME(x[i], &one);                                                       \
      written[i] = one;                                                                            \
    }                                                                                              \
    *pointer = written;                                                                            \
    return results;                                                                                \
  }
#define OCLCC_WITH_POINTER_IN(NAME, T, P, SPACE)                                                   \
  BUILT_IN T NAME(T x, SPACE P* pointer) {                                                         \
    P written;                                                                                     \
    const T result = oclcc_##NAME(x, &written);                                                    \
    *pointer = written;                                                                            \
    return result;                                                                                 \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_WITH_POINTER_VECTOR, NAME, T, P, SPACE)
#define OCLCC_WITH_POINTER(NAME, T, P)                                                             \
  OCLCC_WITH_POINTER_IN(NAME, T, P, __private)                                                     \
  OCLCC_WITH_POINTER_IN(NAME, T, P, __global)                                                      \
  OCLCC_WITH_POINTER_IN(NAME, T, P, __local)
OCLCC_WITH_POINTER(sincos, float, float)

// x * 2^n with one rounding.
PURE_BUILT_IN float ldexp(float x, int n) {
  const uint biased = (uint)(AS_UINT(x) >> 23) & 255;
  if (biased - 1 < 254 && biased + (uint)n - 1 < 254)
    return AS_FLOAT(AS_UINT(x) + ((uint)n << 23));
  const uint magnitude = AS_UINT(x) & 0x7fffffffu;
  if (magnitude == 0 || magnitude >= 0x7f800000u)
    return x;
  const uint sign = AS_UINT(x) & 0x80000000u;
  const uint zeros = magnitude < 0x800000u ? (uint)__builtin_clz(magnitude) - 8 : 0;
  const uint fraction = (magnitude << zeros) & 0x7fffff;
  const int exponent = magnitude < 0x800000u ? 1 - (int)zeros : (int)(magnitude >> 23);
  const int result = exponent + (n < -1000 ? -1000 : (n > 1000 ? 1000 : n));
  if (result >= 255)
    return AS_FLOAT(sign | 0x7f800000u);
  if (result >= 1)
    return AS_FLOAT(sign | ((uint)result << 23) | fraction);
  if (result < -60)
    return AS_FLOAT(sign);
  return AS_FLOAT(sign | ((uint)(result + 64) << 23) | fraction) * 0x1p-64f;
}
MAP2(ldexp, float, float, int)
#define OCLCC_LDEXP_SCALAR(N, T)                                                                   \
  PURE_BUILT_IN T##N ldexp(T##N x, int n) {                                                        \
    return ldexp(x, (int##N)n);                                                                    \
  }
OCLCC_WIDTHS(OCLCC_LDEXP_SCALAR, float)

// The exponent of x, the least int for zero, and the largest for infinity and NaN.
PURE_BUILT_IN int ilogb(float x) {
  const uint magnitude = AS_UINT(x) & ~((uint)1 << 31);
  if (magnitude - 0x800000u < 0x7f800000u - 0x800000u)
    return (int)(magnitude >> 23) - 127;
  if (magnitude == 0)
    return (int)0x80000000u;
  return magnitude < 0x800000u ? -118 - __builtin_clz(magnitude) : 0x7fffffff;
}
PURE_BUILT_IN float logb(float x) {
  const int n = ilogb(x);
  if (n == (int)0x80000000u)
    return -OCLCC_INFINITY_F;
  return n == 0x7fffffff ? x * x : (float)n;
}
MAP1(ilogb, int, float)
MAP1(logb, float, float)

// x as a number from 1/2 to 1 times 2^exponent.
PART float oclcc_frexp(float x, int* exponent) {
  const uint magnitude = AS_UINT(x) & ~((uint)1 << 31);
  *exponent = 0;
  if (magnitude == 0 || magnitude >= 0x7f800000u)
    return x;
  const int subnormal = magnitude < 0x800000u;
  const uint bits = AS_UINT(subnormal ? x * 0x1p25f : x);
  *exponent = (int)((uint)(bits >> 23) & 255) - (subnormal ? 151 : 126);
  return AS_FLOAT((bits & ~((uint)255 << 23)) | ((uint)126 << 23));
}
OCLCC_WITH_POINTER(frexp, float, int)

// x - floor(x), below 1. Zero and infinity give a zero of their sign.
PART BUILT_IN float oclcc_fract(float x, float* whole) {
  *whole = __builtin_floorf(x);
  const float r = x - *whole;
  const float limited = r < 1.0f ? r : 0x1.fffffep-1f;
  if (x == 0.0f || x - x != 0.0f)
    return x == x ? __builtin_copysignf(0.0f, x) : x;
  return limited;
}
OCLCC_WITH_POINTER(fract, float, float)

// The part behind the point has the sign of x; that of infinity is zero.
PART BUILT_IN float oclcc_modf(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_fabsf(x) == OCLCC_INFINITY_F ? 0.0f : x - *whole, x);
}
OCLCC_WITH_POINTER(modf, float, float)

// |x| modulo |y| for finite x and y other than 0, exact, by long division of the significands.
// Writes the low bits of the quotient.
PART float oclcc_modulo(float x, float y, uint* quotient) {
  const uint ax = AS_UINT(x) & 0x7fffffffu;
  const uint ay = AS_UINT(y) & 0x7fffffffu;
  // The device divides with an error of 2 ULP, hence a quotient below 2^20 is off by one at most.
  // The first remainder tells in which direction. It is not exact if the quotient is too low: it is
  // up to twice the divisor, and needs 25 bits. The second is below the divisor, and exact.
  const float divisor_size = __builtin_fabsf(y);
  const float ratio = __builtin_fabsf(x) / divisor_size;
  if (ratio < 0x1p20f) {
    float n = __builtin_truncf(ratio);
    const float r = __builtin_fmaf(-n, divisor_size, __builtin_fabsf(x));
    n = r < 0.0f ? n - 1.0f : (r >= divisor_size ? n + 1.0f : n);
    *quotient = (uint)n;
    return __builtin_fmaf(-n, divisor_size, __builtin_fabsf(x));
  }
  *quotient = 0;
  if (ax < ay)
    return AS_FLOAT(ax);
  const int zeros_x = ax < 0x800000u ? __builtin_clz(ax) - 8 : 0;
  const int zeros_y = ay < 0x800000u ? __builtin_clz(ay) - 8 : 0;
  uint rest = ax < 0x800000u ? ax << zeros_x : ((ax & 0x7fffffu) | 0x800000u);
  const uint divisor = ay < 0x800000u ? ay << zeros_y : ((ay & 0x7fffffu) | 0x800000u);
  const int exponent_y = ay < 0x800000u ? 1 - zeros_y : (int)(ay >> 23);
  int steps = (ax < 0x800000u ? 1 - zeros_x : (int)(ax >> 23)) - exponent_y;
  uint q = rest >= divisor ? 1 : 0;
  rest -= q * divisor;
  while (steps > 0 && rest != 0) {
    const int bits = steps < 8 ? steps : 8;
    const uint shifted = rest << bits;
    const uint digit = shifted / divisor;
    rest = shifted - digit * divisor;
    q = (q << bits) + digit;
    steps -= bits;
  }
  *quotient = steps < 32 ? q << steps : 0;
  return oclcc_scale((float)rest, exponent_y - 150);
}

PART int oclcc_no_modulo(float x, float y) {
  return !oclcc_is_finite(x) || y == 0.0f || y != y;
}

PURE_BUILT_IN float fmod(float x, float y) {
  if (oclcc_no_modulo(x, y))
    return OCLCC_NAN_F;
  if (!oclcc_is_finite(y))
    return x;
  uint quotient;
  return __builtin_copysignf(oclcc_modulo(x, y, &quotient), x);
}

// The remainder of the nearest quotient, and the low seven bits of that, with its sign.
PART float oclcc_remainder(float x, float y, int* quotient) {
  *quotient = 0;
  if (oclcc_no_modulo(x, y))
    return OCLCC_NAN_F;
  if (!oclcc_is_finite(y))
    return x;
  uint q;
  const float divisor = __builtin_fabsf(y);
  float rest = oclcc_modulo(x, y, &q);
  const float other = divisor - rest;
  if (rest > other || (rest == other && (q & 1) != 0)) {
    rest -= divisor;
    ++q;
  }
  const int low = (int)(q & 0x7f);
  *quotient = (int)((AS_UINT(x) ^ AS_UINT(y)) >> 31) != 0 ? -low : low;
  return oclcc_signed_as(rest, x);
}

PURE_BUILT_IN float remainder(float x, float y) {
  int quotient;
  return oclcc_remainder(x, y, &quotient);
}

MAP2(fmod, float, float, float)
MAP2(remainder, float, float, float)

#define OCLCC_REMQUO_VECTOR(N, T, SPACE)                                                           \
  BUILT_IN T##N remquo(T##N x, T##N y, SPACE int##N* quotient) {                                   \
    T##N r;                                                                                        \
    int##N q;                                                                                      \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      int one;                                                                                     \
      r[i] = oclcc_remainder(x[i], y[i], &one);                                                    \
      q[i] = one;                                                                                  \
    }                                                                                              \
    *quotient = q;                                                                                 \
    return r;                                                                                      \
  }
#define OCLCC_REMQUO(T, SPACE)                                                                     \
  BUILT_IN T remquo(T x, T y, SPACE int* quotient) {                                               \
    int q;                                                                                         \
    const T r = oclcc_remainder(x, y, &q);                                                         \
    *quotient = q;                                                                                 \
    return r;                                                                                      \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_REMQUO_VECTOR, T, SPACE)
OCLCC_REMQUO(float, __private)
OCLCC_REMQUO(float, __global)
OCLCC_REMQUO(float, __local)

PURE_BUILT_IN float fdim(float x, float y) {
  return x <= y ? 0.0f : x - y;
}
MAP2(fdim, float, float, float)

PURE_BUILT_IN float nextafter(float x, float y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  const uint bits = AS_UINT(x);
  if ((bits & 0x7fffffffu) == 0)
    return AS_FLOAT((AS_UINT(y) & 0x80000000u) | 1);
  return AS_FLOAT((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}
MAP2(nextafter, float, float, float)

// a^(y + low) for a positive finite a: 2^((y + low) * log2(a)), with log2(a) in two parts.
PART float oclcc_power(float a, float y, float low) {
  const int subnormal = AS_UINT(a) < 0x800000u;
  const float b = subnormal ? a * 0x1p25f : a;
  const int exponent = oclcc_exponent(b);
  const float n = (float)(subnormal ? exponent - 25 : exponent);
  // log2(1 + f) = 2 / log(2) * atanh(s) for s = f / (2 + f).
  const float f = AS_FLOAT(AS_UINT(b) - ((uint)exponent << 23)) - 1.0f;
  const float r = __nvvm_rcp_approx_ftz_f(2.0f + f);
  const float s = f * r;
  const float s_low = __builtin_fmaf(-s, f, __builtin_fmaf(-2.0f, s, f)) * r;
  const float z = s * s;
  float p = 0x1.58aebcp-2f;
  p = __builtin_fmaf(p, z, 0x1.a5c94ap-2f);
  p = __builtin_fmaf(p, z, 0x1.2777p-1f);
  p = __builtin_fmaf(p, z, 0x1.ec709ep-1f);
  const float q = s * 0x1.715476p+1f;
  float q_low = __builtin_fmaf(s, 0x1.715476p+1f, -q);
  q_low = __builtin_fmaf(s, 0x1.4ae0cp-25f, __builtin_fmaf(s_low, 0x1.715476p+1f, q_low));
  q_low = __builtin_fmaf(s * z, p, q_low);
  const float nq = n + q;
  const float rest = (n - nq) + q + q_low;
  const float l = nq + rest;
  const float l_low = (nq - l) + rest;
  float e = y * l;
  float e_low = __builtin_fmaf(y, l_low, __builtin_fmaf(y, l, -e));
  e_low = __builtin_fmaf(low, l, e_low);
  const int normal = __builtin_fabsf(e) < 160.0f;
  e_low = normal ? e_low : 0.0f;
  e = normal ? e : (e > 0.0f ? 160.0f : -160.0f);
  const float t = e + OCLCC_ROUND_F;
  const float v = __nvvm_ex2_approx_ftz_f(e - (t - OCLCC_ROUND_F) + e_low);
  return oclcc_scale(v, AS_INT(t) - AS_INT(OCLCC_ROUND_F));
}
// |x|^y from the magnitude of a power, with the rules for zero, infinity, and NaN; `odd` tells
// whether y is an odd integer.
PART float oclcc_power_special(float a, float y, float magnitude) {
  if (a == 1.0f)
    return 1.0f;
  if (a == 0.0f || a == OCLCC_INFINITY_F)
    return (a == 0.0f) == (y > 0.0f) ? 0.0f : OCLCC_INFINITY_F;
  return magnitude;
}
PURE_BUILT_IN float pow(float x, float y) {
  if (x == 1.0f || y == 0.0f)
    return 1.0f;
  if (x != x || y != y)
    return x + y;
  const float a = __builtin_fabsf(x);
  const float v = oclcc_power_special(a, y, oclcc_power(a, y, 0.0f));
  if ((int)AS_UINT(x) >= 0)
    return v;
  const float half_y = 0.5f * y;
  const int integral = __builtin_truncf(y) == y;
  if (integral && __builtin_truncf(half_y) != half_y)
    return -v;
  return x < 0.0f && !integral && a != OCLCC_INFINITY_F ? OCLCC_NAN_F : v;
}
PURE_BUILT_IN float powr(float x, float y) {
  const float v = oclcc_power_special(x, y, oclcc_power(x, y, 0.0f));
  const float size = __builtin_fabsf(y);
  if (!(x >= 0.0f) || y != y || (y == 0.0f && (x == 0.0f || x == OCLCC_INFINITY_F)) ||
      (x == 1.0f && size == OCLCC_INFINITY_F))
    return OCLCC_NAN_F;
  return y == 0.0f ? 1.0f : v;
}
PURE_BUILT_IN float pown(float x, int n) {
  if (n == 0)
    return 1.0f;
  const float a = __builtin_fabsf(x);
  const float y = (float)n;
  const float v =
      x != x
          ? x
          : oclcc_power_special(
                a, y,
                oclcc_power(a, y, (float)(n - (int)oclcc_limit(y, -2147483648.0f, 2147483520.0f))));
  return (n & 1) != 0 ? __builtin_copysignf(v, x) : v;
}
// The rounding error of 1 / n is made good.
PURE_BUILT_IN float rootn(float x, int n) {
  if (n == 0 || x != x || (x < 0.0f && (n & 1) == 0))
    return OCLCC_NAN_F;
  const float a = __builtin_fabsf(x);
  const float divisor = (float)n;
  const float y = 1.0f / divisor;
  const float low = __builtin_fmaf(-y, divisor, 1.0f) * y;
  const float v = n == 1 ? a : oclcc_power_special(a, y, oclcc_power(a, y, low));
  return (n & 1) != 0 ? __builtin_copysignf(v, x) : v;
}
MAP2(pow, float, float, float)
MAP2(powr, float, float, float)
MAP2(pown, float, float, int)
MAP2(rootn, float, float, int)

PURE_BUILT_IN float half_powr(float x, float y) {
  return powr(x, y);
}
MAP2(half_powr, float, float, float)

// e^(x*x) * erfc(x) * (1 + 2x) for x in [0, 10.3] is a polynomial in (x - 4) / (x + 4).
PURE_BUILT_IN float erfc(float x) {
  if (x != x)
    return x;
  const float a = __builtin_fabsf(x);
  const float b = a < 10.3f ? a : 10.3f;
  const float t = (b - 4.0f) / (b + 4.0f);
  float p = 0x1.b2ee9ap-11f;
  p = __builtin_fmaf(p, t, 0x1.c1e04p-8f);
  p = __builtin_fmaf(p, t, -0x1.06ab2cp-6f);
  p = __builtin_fmaf(p, t, 0x1.2a544cp-5f);
  p = __builtin_fmaf(p, t, -0x1.10c198p-4f);
  p = __builtin_fmaf(p, t, 0x1.80558p-4f);
  p = __builtin_fmaf(p, t, -0x1.9dad1cp-4f);
  p = __builtin_fmaf(p, t, 0x1.16e7bcp-4f);
  p = __builtin_fmaf(p, t, 0x1.f7e3e4p-7f);
  p = __builtin_fmaf(p, t, -0x1.1df1a2p-3f);
  p = __builtin_fmaf(p, t, 0x1.3ba592p+0f);
  p = p / __builtin_fmaf(2.0f, b, 1.0f);
  // e^-(b*b) in two factors: the product's rounding error is part of the exponent.
  const float square = b * b;
  const float error = __builtin_fmaf(b, b, -square);
  const float t2 = __builtin_fmaf(-square, 0x1.715476p+0f, OCLCC_ROUND_F);
  const float n = t2 - OCLCC_ROUND_F;
  const float r =
      __builtin_fmaf(n, 0x1.05c61p-29f, __builtin_fmaf(n, -0x1.62e43p-1f, -square)) - error;
  const float e = oclcc_scale(oclcc_exp_core(r) * p, AS_INT(t2) - AS_INT(OCLCC_ROUND_F));
  return x < 0.0f ? 2.0f - e : e;
}
MAP1(erfc, float, float)

// Scaled so that no square overflows or vanishes.
PURE_BUILT_IN float hypot(float x, float y) {
  const float a = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  const float largest = a > b ? a : b;
  const float scale = largest > 0x1p60f ? 0x1p-70f : (largest < 0x1p-60f ? 0x1p100f : 1.0f);
  const float back = largest > 0x1p60f ? 0x1p70f : (largest < 0x1p-60f ? 0x1p-100f : 1.0f);
  const float c = a * scale;
  const float d = b * scale;
  const float r = __nvvm_sqrt_approx_f(__builtin_fmaf(c, c, d * d)) * back;
  return a == OCLCC_INFINITY_F || b == OCLCC_INFINITY_F ? OCLCC_INFINITY_F : r;
}
MAP2(hypot, float, float, float)

// The native functions are single instructions of the device.
PURE_BUILT_IN float native_sin(float x) {
  return __nvvm_sin_approx_f(x);
}
PURE_BUILT_IN float native_cos(float x) {
  return __nvvm_cos_approx_f(x);
}
PURE_BUILT_IN float native_tan(float x) {
  return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x));
}
PURE_BUILT_IN float native_exp2(float x) {
  return __nvvm_ex2_approx_f(x);
}
PURE_BUILT_IN float native_exp(float x) {
  return __nvvm_ex2_approx_f(x * 0x1.715476p+0f);
}
PURE_BUILT_IN float native_exp10(float x) {
  return __nvvm_ex2_approx_f(x * 0x1.a934fp+1f);
}
PURE_BUILT_IN float native_log2(float x) {
  return __nvvm_lg2_approx_f(x);
}
PURE_BUILT_IN float native_log(float x) {
  return __nvvm_lg2_approx_f(x) * 0x1.62e43p-1f;
}
PURE_BUILT_IN float native_log10(float x) {
  return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f;
}
PURE_BUILT_IN float native_powr(float x, float y) {
  return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}
PURE_BUILT_IN float native_rsqrt(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
PURE_BUILT_IN float native_sqrt(float x) {
  return __nvvm_sqrt_approx_f(x);
}
PURE_BUILT_IN float native_recip(float x) {
  return __nvvm_div_approx_f(1.0f, x);
}
PURE_BUILT_IN float native_divide(float x, float y) {
  return __nvvm_div_approx_f(x, y);
}
MAP1(native_sin, float, float)
MAP1(native_cos, float, float)
MAP1(native_tan, float, float)
MAP1(native_exp2, float, float)
MAP1(native_exp, float, float)
MAP1(native_exp10, float, float)
MAP1(native_log2, float, float)
MAP1(native_log, float, float)
MAP1(native_log10, float, float)
MAP1(native_rsqrt, float, float)
MAP1(native_sqrt, float, float)
MAP1(native_recip, float, float)
MAP2(native_powr, float, float, float)
MAP2(native_divide, float, float, float)

PURE_BUILT_IN float nan(uint code) {
  return AS_FLOAT((code & 0x3fffffu) | 0x7fc00000u);
}
MAP1(nan, float, uint)

PURE_BUILT_IN float rsqrt(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
MAP1(rsqrt, float, float)

// The logarithm of gamma(2 + z) for |z| <= 1/2: z times a polynomial, whose series has
// 1 - Euler's constant and (-1)^k * (zeta(k) - 1) / k (NIST DLMF, 5.7.3).
PART float oclcc_lgamma_core(float z) {
  float p = -0x1.06bbbcp-12f;
  p = __builtin_fmaf(p, z, 0x1.2af9d4p-11f);
  p = __builtin_fmaf(p, z, -0x1.374ac2p-10f);
  p = __builtin_fmaf(p, z, 0x1.7956cep-9f);
  p = __builtin_fmaf(p, z, -0x1.e40b3p-8f);
  p = __builtin_fmaf(p, z, 0x1.513598p-6f);
  p = __builtin_fmaf(p, z, -0x1.13ep-4f);
  p = __builtin_fmaf(p, z, 0x1.4a34ccp-2f);
  return z * __builtin_fmaf(p, z, 0x1.b0ee6p-2f);
}
// Of x > 0. gamma(x + 1) = x * gamma(x) leads to the core; from 8 on, Stirling's series (DLMF,
// 5.11.1).
PART float oclcc_lgamma_positive(float x) {
  if (x < 0.5f)
    return oclcc_lgamma_core(x) - log1p(x) - log(x);
  if (x < 1.5f)
    return oclcc_lgamma_core(x - 1.0f) - log(x);
  if (x < 8.0f) {
    float t = x, product = 1.0f;
    while (t > 2.5f) {
      t -= 1.0f;
      product *= t;
    }
    return oclcc_lgamma_core(t - 2.0f) + log(product);
  }
  const float y = 1.0f / x;
  const float z = y * y;
  float p = __builtin_fmaf(0x1.a01a02p-11f, z, -0x1.6c16c2p-9f);
  p = __builtin_fmaf(p, z, 0x1.555556p-4f);
  return __builtin_fmaf(x - 0.5f, log(x) - 1.0f, __builtin_fmaf(p, y, 0x1.acfe3ap-2f));
}
// `sign` is that of gamma(x). The reflection: gamma(-a) = -pi / (a * sin(pi a) * gamma(a)).
PART BUILT_IN float oclcc_lgamma_r(float x, int* sign) {
  *sign = 1;
  const float a = __builtin_fabsf(x);
  const float whole = __builtin_floorf(a);
  if (x <= 0.0f && a == whole) {
    *sign = x == 0.0f && (int)AS_UINT(x) < 0 ? -1 : 1;
    return OCLCC_INFINITY_F;
  }
  const float positive = a == OCLCC_INFINITY_F ? a : oclcc_lgamma_positive(a);
  if (!(x < 0.0f))
    return positive;
  *sign = 2.0f * __builtin_floorf(0.5f * whole) == whole ? -1 : 1;
  if (a < 0x1p-40f)
    return positive;
  return log(0x1.921fb6p+1f / (a * __builtin_fabsf(sinpi(a)))) - positive;
}
PURE_BUILT_IN float lgamma(float x) {
  int sign;
  return oclcc_lgamma_r(x, &sign);
}
MAP1(lgamma, float, float)
OCLCC_WITH_POINTER(lgamma_r, float, int)
