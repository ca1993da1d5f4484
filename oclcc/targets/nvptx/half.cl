// Functions of half, for cl_khr_fp16. Each number of half is a number of float. A function of float
// is far more accurate than half, hence it is computed in float and rounded once. Where the
// specification requires the correctly rounded result, so is that of float, which has more than
// twice the digits: rounding it again then gives the correctly rounded result (Figueroa, "When is
// double rounding innocuous?", 1995).
#define OCLCC_HALF_TYPES

#define AS_USHORT(x) __builtin_astype((half)(x), ushort)
#define AS_HALF(x) __builtin_astype((ushort)(x), half)

#define OCLCC_IN_FLOAT_1(NAME)                                                                     \
  PURE_BUILT_IN half NAME(half x) {                                                                \
    return (half)NAME((float)x);                                                                   \
  }                                                                                                \
  MAP1(NAME, half, half)
#define OCLCC_IN_FLOAT_2(NAME)                                                                     \
  PURE_BUILT_IN half NAME(half x, half y) {                                                        \
    return (half)NAME((float)x, (float)y);                                                         \
  }                                                                                                \
  MAP2(NAME, half, half, half)
#define OCLCC_IN_FLOAT_INT(NAME)                                                                   \
  PURE_BUILT_IN half NAME(half x, int n) {                                                         \
    return (half)NAME((float)x, n);                                                                \
  }                                                                                                \
  MAP2(NAME, half, half, int)
OCLCC_IN_FLOAT_1(acos)
OCLCC_IN_FLOAT_1(acosh)
OCLCC_IN_FLOAT_1(acospi)
OCLCC_IN_FLOAT_1(asin)
OCLCC_IN_FLOAT_1(asinh)
OCLCC_IN_FLOAT_1(asinpi)
OCLCC_IN_FLOAT_1(atan)
OCLCC_IN_FLOAT_1(atanh)
OCLCC_IN_FLOAT_1(atanpi)
OCLCC_IN_FLOAT_1(cbrt)
OCLCC_IN_FLOAT_1(cos)
OCLCC_IN_FLOAT_1(cosh)
OCLCC_IN_FLOAT_1(cospi)
OCLCC_IN_FLOAT_1(erf)
OCLCC_IN_FLOAT_1(erfc)
OCLCC_IN_FLOAT_1(exp)
OCLCC_IN_FLOAT_1(exp10)
OCLCC_IN_FLOAT_1(exp2)
OCLCC_IN_FLOAT_1(expm1)
OCLCC_IN_FLOAT_1(lgamma)
OCLCC_IN_FLOAT_1(log)
OCLCC_IN_FLOAT_1(log10)
OCLCC_IN_FLOAT_1(log1p)
OCLCC_IN_FLOAT_1(log2)
OCLCC_IN_FLOAT_1(logb)
OCLCC_IN_FLOAT_1(round)
OCLCC_IN_FLOAT_1(rsqrt)
OCLCC_IN_FLOAT_1(sin)
OCLCC_IN_FLOAT_1(sinh)
OCLCC_IN_FLOAT_1(sinpi)
OCLCC_IN_FLOAT_1(tan)
OCLCC_IN_FLOAT_1(tanh)
OCLCC_IN_FLOAT_1(tanpi)
OCLCC_IN_FLOAT_1(tgamma)
OCLCC_IN_FLOAT_2(atan2)
OCLCC_IN_FLOAT_2(atan2pi)
OCLCC_IN_FLOAT_2(fmod)
OCLCC_IN_FLOAT_2(hypot)
OCLCC_IN_FLOAT_2(pow)
OCLCC_IN_FLOAT_2(powr)
OCLCC_IN_FLOAT_2(remainder)
OCLCC_IN_FLOAT_INT(ldexp)
OCLCC_IN_FLOAT_INT(pown)
OCLCC_IN_FLOAT_INT(rootn)
OCLCC_WIDTHS(OCLCC_LDEXP_SCALAR, half)

// Assembler text, because LLVM replaces its functions for these instructions by its own operations,
// for which oclcc asks for approximations of float.
PART float oclcc_exact_sqrt(float x) {
  float root;
  __asm__("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
PART float oclcc_exact_quotient(float x, float y) {
  float quotient;
  __asm__("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(x), "f"(y));
  return quotient;
}

#define OCLCC_HALF_1(NAME, VALUE)                                                                  \
  PURE_BUILT_IN half NAME(half x) {                                                                \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP1(NAME, half, half)
#define OCLCC_HALF_2(NAME, VALUE)                                                                  \
  PURE_BUILT_IN half NAME(half x, half y) {                                                        \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP2(NAME, half, half, half)
#define OCLCC_HALF_3(NAME, VALUE)                                                                  \
  PURE_BUILT_IN half NAME(half x, half y, half z) {                                                \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP3(NAME, half, half, half, half)
OCLCC_HALF_1(fabs, AS_HALF(AS_USHORT(x) & 0x7fff))
OCLCC_HALF_1(ceil, (half)__builtin_ceilf((float)x))
OCLCC_HALF_1(floor, (half)__builtin_floorf((float)x))
OCLCC_HALF_1(rint, (half)__builtin_rintf((float)x))
OCLCC_HALF_1(trunc, (half)__builtin_truncf((float)x))
OCLCC_HALF_1(sqrt, (half)oclcc_exact_sqrt((float)x))
OCLCC_HALF_1(degrees, (half)((float)x * 0x1.ca5dc2p+5f))
OCLCC_HALF_1(radians, (half)((float)x * 0x1.1df46ap-6f))
OCLCC_HALF_1(sign, x != x ? (half)0.0f
                          : (x == (half)0.0f ? x : AS_HALF((AS_USHORT(x) & 0x8000) | 0x3c00)))
OCLCC_HALF_2(copysign, AS_HALF((AS_USHORT(x) & 0x7fff) | (AS_USHORT(y) & 0x8000)))
OCLCC_HALF_2(fdim, x <= y ? (half)0.0f : x - y)
OCLCC_HALF_2(fmax, y != y || x > y ? x : y)
OCLCC_HALF_2(fmin, y != y || x < y ? x : y)
OCLCC_HALF_2(max, x < y ? y : x)
OCLCC_HALF_2(min, y < x ? y : x)
OCLCC_HALF_2(maxmag, fabs(x) > fabs(y) ? x : (fabs(y) > fabs(x) ? y : fmax(x, y)))
OCLCC_HALF_2(minmag, fabs(x) < fabs(y) ? x : (fabs(y) < fabs(x) ? y : fmin(x, y)))
OCLCC_HALF_2(step, y < x ? (half)0.0f : (half)1.0f)
OCLCC_HALF_3(clamp, fmin(fmax(x, y), z))
OCLCC_HALF_3(mix, (half)__builtin_fmaf((float)y - (float)x, (float)z, (float)x))

// The device's instruction, because no sum of float has the digits of a product and a sum.
PART BUILT_IN ushort oclcc_fma(ushort x, ushort y, ushort z) {
  ushort result;
  __asm__("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result) : "h"(x), "h"(y), "h"(z));
  return result;
}
PART BUILT_IN uint oclcc_fma(uint x, uint y, uint z) {
  uint result;
  __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
  return result;
}
#define OCLCC_FMA_OF(N, NAME, LOW, HIGH)                                                           \
  PURE_BUILT_IN half##N NAME(half##N x, half##N y, half##N z) {                                    \
    return (half##N)(NAME(x.LOW, y.LOW, z.LOW), NAME(x.HIGH, y.HIGH, z.HIGH));                     \
  }
#define OCLCC_FMA(NAME)                                                                            \
  PURE_BUILT_IN half NAME(half x, half y, half z) {                                                \
    return AS_HALF(oclcc_fma(AS_USHORT(x), AS_USHORT(y), AS_USHORT(z)));                           \
  }                                                                                                \
  PURE_BUILT_IN half2 NAME(half2 x, half2 y, half2 z) {                                            \
    return __builtin_astype(oclcc_fma(__builtin_astype(x, uint), __builtin_astype(y, uint),        \
                                      __builtin_astype(z, uint)),                                  \
                            half2);                                                                \
  }                                                                                                \
  OCLCC_FMA_OF(3, NAME, lo, z)                                                                     \
  OCLCC_FMA_OF(4, NAME, lo, hi)                                                                    \
  OCLCC_FMA_OF(8, NAME, lo, hi)                                                                    \
  OCLCC_FMA_OF(16, NAME, lo, hi)
OCLCC_FMA(fma)
OCLCC_FMA(mad)

// The quotient is an approximation of the same value whatever its rounding: the result is not
// defined to the last digit.
PURE_BUILT_IN half smoothstep(half low, half high, half x) {
  const float t = ((float)x - (float)low) / ((float)high - (float)low);
  const float limited = t < 0.0f ? 0.0f : (t > 1.0f ? 1.0f : t);
  return (half)(limited * limited * (3.0f - 2.0f * limited));
}
MAP3(smoothstep, half, half, half, half)

// The last argument, or the first, is a scalar.
#define OCLCC_WITH_SCALARS(N, T)                                                                   \
  PURE_BUILT_IN T##N fmax(T##N x, T y) {                                                           \
    return fmax(x, (T##N)y);                                                                       \
  }                                                                                                \
  PURE_BUILT_IN T##N fmin(T##N x, T y) {                                                           \
    return fmin(x, (T##N)y);                                                                       \
  }                                                                                                \
  PURE_BUILT_IN T##N max(T##N x, T y) {                                                            \
    return max(x, (T##N)y);                                                                        \
  }                                                                                                \
  PURE_BUILT_IN T##N min(T##N x, T y) {                                                            \
    return min(x, (T##N)y);                                                                        \
  }                                                                                                \
  PURE_BUILT_IN T##N clamp(T##N x, T low, T high) {                                                \
    return clamp(x, (T##N)low, (T##N)high);                                                        \
  }                                                                                                \
  OCLCC_COMMON_SCALARS(N, T)
OCLCC_WIDTHS(OCLCC_WITH_SCALARS, half)

PURE_BUILT_IN half nextafter(half x, half y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  const ushort bits = AS_USHORT(x);
  if ((bits & 0x7fff) == 0)
    return AS_HALF((AS_USHORT(y) & 0x8000) | 1);
  return AS_HALF((x < y) == (x > (half)0.0f) ? bits + 1 : bits - 1);
}
MAP2(nextafter, half, half, half)

PURE_BUILT_IN int ilogb(half x) {
  return ilogb((float)x);
}
MAP1(ilogb, int, half)

PURE_BUILT_IN half nan(ushort code) {
  return AS_HALF(0x7e00 | (code & 0x1ff));
}
MAP1(nan, half, ushort)

PART BUILT_IN half oclcc_fract(half x, half* whole) {
  *whole = floor(x);
  if (x == (half)0.0f || x - x != (half)0.0f)
    return x == x ? copysign((half)0.0f, x) : x;
  return fmin(x - *whole, AS_HALF(0x3bff));
}
PART BUILT_IN half oclcc_modf(half x, half* whole) {
  *whole = trunc(x);
  return copysign(fabs(x) == AS_HALF(0x7c00) ? (half)0.0f : x - *whole, x);
}
OCLCC_WITH_POINTER(fract, half, half)
OCLCC_WITH_POINTER(modf, half, half)
PART half oclcc_sincos_h(half x, half* cosine) {
  *cosine = cos(x);
  return sin(x);
}
#define oclcc_sincos oclcc_sincos_h
OCLCC_WITH_POINTER(sincos, half, half)
#undef oclcc_sincos
PART half oclcc_frexp_h(half x, int* exponent) {
  return (half)oclcc_frexp((float)x, exponent);
}
#define oclcc_frexp oclcc_frexp_h
OCLCC_WITH_POINTER(frexp, half, int)
#undef oclcc_frexp
// The sign of the gamma function: negative between an odd negative integer and the even above it.
PART BUILT_IN half oclcc_lgamma_r(half x, int* sign) {
  int of_float;
  const half result = (half)lgamma_r((float)x, &of_float);
  *sign = of_float;
  return result;
}
OCLCC_WITH_POINTER(lgamma_r, half, int)
OCLCC_REMQUO(half, __private)
OCLCC_REMQUO(half, __global)
OCLCC_REMQUO(half, __local)

// Geometric functions. In float, neither squares nor their sum overflow.

PURE_BUILT_IN half dot(half x, half y) {
  return x * y;
}
PURE_BUILT_IN half length(half x) {
  return fabs(x);
}
PURE_BUILT_IN half normalize(half x) {
  return sign(x);
}
PURE_BUILT_IN half distance(half x, half y) {
  return fabs(x - y);
}
#define OCLCC_GEOMETRIC(N)                                                                         \
  PART BUILT_IN float oclcc_dot(half##N x, half##N y) {                                            \
    float sum = (float)x[0] * (float)y[0];                                                         \
    _Pragma("unroll") for (int i = 1; i < N; ++i) {                                                \
      sum = __builtin_fmaf((float)x[i], (float)y[i], sum);                                         \
    }                                                                                              \
    return sum;                                                                                    \
  }                                                                                                \
  PURE_BUILT_IN half dot(half##N x, half##N y) {                                                   \
    return (half)oclcc_dot(x, y);                                                                  \
  }                                                                                                \
  PURE_BUILT_IN half length(half##N x) {                                                           \
    return (half)oclcc_exact_sqrt(oclcc_dot(x, x));                                                \
  }                                                                                                \
  PURE_BUILT_IN half distance(half##N x, half##N y) {                                              \
    float sum = 0.0f;                                                                              \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      const float difference = (float)x[i] - (float)y[i];                                          \
      sum = __builtin_fmaf(difference, difference, sum);                                           \
    }                                                                                              \
    return (half)oclcc_exact_sqrt(sum);                                                            \
  }                                                                                                \
  /* Infinite components become 1, and the others 0. */                                            \
  PURE_BUILT_IN half##N normalize(half##N x) {                                                     \
    half##N result = x;                                                                            \
    float square = oclcc_dot(x, x);                                                                \
    if (square == 0.0f)                                                                            \
      return x;                                                                                    \
    if (square == OCLCC_INFINITY_F) {                                                              \
      _Pragma("unroll") for (int i = 0; i < N; ++i) {                                              \
        result[i] = copysign(fabs(x[i]) == AS_HALF(0x7c00) ? (half)1.0f : (half)0.0f, x[i]);       \
      }                                                                                            \
      square = oclcc_dot(result, result);                                                          \
    }                                                                                              \
    const float root = oclcc_exact_sqrt(square);                                                   \
    _Pragma("unroll") for (int i = 0; i < N; ++i) {                                                \
      result[i] = (half)oclcc_exact_quotient((float)result[i], root);                              \
    }                                                                                              \
    return result;                                                                                 \
  }
OCLCC_GEOMETRIC(2)
OCLCC_GEOMETRIC(3)
OCLCC_GEOMETRIC(4)
// A product of two numbers of half has 22 bits, hence it is exact, and the difference is rounded
// once.
PART half oclcc_cross(half a, half b, half c, half d) {
  return (half)((float)a * (float)b - (float)c * (float)d);
}
PURE_BUILT_IN half3 cross(half3 p, half3 q) {
  return (half3)(oclcc_cross(p.y, q.z, p.z, q.y), oclcc_cross(p.z, q.x, p.x, q.z),
                 oclcc_cross(p.x, q.y, p.y, q.x));
}
PURE_BUILT_IN half4 cross(half4 p, half4 q) {
  return (half4)(cross(p.xyz, q.xyz), (half)0.0f);
}

// Relational functions. The operators of vectors give -1 for true. Loops over the components would
// become vectors of 1, which the back end of clang 19 cannot select.

#define OCLCC_RELATION_VECTOR(N, NAME, VALUE)                                                      \
  PURE_BUILT_IN short##N NAME(half##N x, half##N y) {                                              \
    return VALUE;                                                                                  \
  }
#define OCLCC_RELATION(NAME, VALUE)                                                                \
  PURE_BUILT_IN int NAME(half x, half y) {                                                         \
    return VALUE;                                                                                  \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_RELATION_VECTOR, NAME, VALUE)
OCLCC_RELATION(isequal, x == y)
OCLCC_RELATION(isnotequal, x != y)
OCLCC_RELATION(isgreater, x > y)
OCLCC_RELATION(isgreaterequal, x >= y)
OCLCC_RELATION(isless, x < y)
OCLCC_RELATION(islessequal, x <= y)
OCLCC_RELATION(islessgreater, (x < y) | (x > y))
OCLCC_RELATION(isordered, (x == x) & (y == y))
OCLCC_RELATION(isunordered, (x != x) | (y != y))

#define OCLCC_CLASS_OF(N, NAME, VALUE, RESULT)                                                     \
  PURE_BUILT_IN RESULT##N NAME(half##N x) {                                                        \
    const ushort##N bits = __builtin_astype(x, ushort##N);                                         \
    const ushort##N magnitude = bits & (ushort)0x7fff;                                             \
    return VALUE;                                                                                  \
  }
#define OCLCC_CLASS(NAME, VALUE)                                                                   \
  OCLCC_CLASS_OF(, NAME, VALUE, int)                                                               \
  OCLCC_WIDTHS(OCLCC_CLASS_OF, NAME, VALUE, short)
OCLCC_CLASS(isfinite, magnitude < (ushort)0x7c00)
OCLCC_CLASS(isinf, magnitude == (ushort)0x7c00)
OCLCC_CLASS(isnan, magnitude > (ushort)0x7c00)
OCLCC_CLASS(isnormal, (magnitude >= (ushort)0x400) & (magnitude < (ushort)0x7c00))
OCLCC_CLASS(signbit, bits > (ushort)0x7fff)

// Functions that only move bits are those of ushort.

#define AS_USHORTS(N, x) __builtin_astype(x, ushort##N)
#define AS_HALVES(N, x) __builtin_astype(x, half##N)
#define OCLCC_SELECT(N)                                                                            \
  PURE_BUILT_IN half##N bitselect(half##N x, half##N y, half##N z) {                               \
    return AS_HALVES(N, (ushort##N)((AS_USHORTS(N, x) & ~AS_USHORTS(N, z)) |                       \
                                    (AS_USHORTS(N, y) & AS_USHORTS(N, z))));                       \
  }                                                                                                \
  PURE_BUILT_IN half##N select(half##N x, half##N y, ushort##N z) {                                \
    return AS_HALVES(N, select(AS_USHORTS(N, x), AS_USHORTS(N, y), z));                            \
  }                                                                                                \
  PURE_BUILT_IN half##N select(half##N x, half##N y, short##N z) {                                 \
    return AS_HALVES(N, select(AS_USHORTS(N, x), AS_USHORTS(N, y), z));                            \
  }
OCLCC_SELECT()
OCLCC_SELECT(2)
OCLCC_SELECT(3)
OCLCC_SELECT(4)
OCLCC_SELECT(8)
OCLCC_SELECT(16)

#define OCLCC_SHUFFLE(N, M)                                                                        \
  PURE_BUILT_IN half##N shuffle(half##M x, ushort##N mask) {                                       \
    return AS_HALVES(N, shuffle(AS_USHORTS(M, x), mask));                                          \
  }                                                                                                \
  PURE_BUILT_IN half##N shuffle2(half##M x, half##M y, ushort##N mask) {                           \
    return AS_HALVES(N, shuffle2(AS_USHORTS(M, x), AS_USHORTS(M, y), mask));                       \
  }
#define OCLCC_SHUFFLES(M)                                                                          \
  OCLCC_SHUFFLE(2, M) OCLCC_SHUFFLE(4, M) OCLCC_SHUFFLE(8, M) OCLCC_SHUFFLE(16, M)
OCLCC_SHUFFLES(2)
OCLCC_SHUFFLES(4)
OCLCC_SHUFFLES(8)
OCLCC_SHUFFLES(16)

#define OCLCC_LOAD(N, SPACE)                                                                       \
  BUILT_IN half##N vload##N(ulong at, const SPACE half* p) {                                       \
    return AS_HALVES(N, vload##N(at, (const SPACE ushort*)p));                                     \
  }
#define OCLCC_LOAD_STORE(N, SPACE)                                                                 \
  OCLCC_LOAD(N, SPACE)                                                                             \
  BUILT_IN void vstore##N(half##N x, ulong at, SPACE half* p) {                                    \
    vstore##N(AS_USHORTS(N, x), at, (SPACE ushort*)p);                                             \
  }
OCLCC_WIDTHS(OCLCC_LOAD, __constant)
OCLCC_WIDTHS(OCLCC_LOAD_STORE, __global)
OCLCC_WIDTHS(OCLCC_LOAD_STORE, __local)
OCLCC_WIDTHS(OCLCC_LOAD_STORE, __private)

OCLCC_COPIES(half)

// Conversions from half are those from float, which are exact on the way.

#define OCLCC_FROM_HALF(TO, SUFFIX) OCLCC_CONVERT(TO, half, SUFFIX, convert_##TO##SUFFIX((float)x))
#define OCLCC_FROM_HALF_MODES(TO, SATURATED)                                                       \
  OCLCC_FROM_HALF(TO, SATURATED)                                                                   \
  OCLCC_FROM_HALF(TO, SATURATED##_rte)                                                             \
  OCLCC_FROM_HALF(TO, SATURATED##_rtz)                                                             \
  OCLCC_FROM_HALF(TO, SATURATED##_rtp)                                                             \
  OCLCC_FROM_HALF(TO, SATURATED##_rtn)
#define OCLCC_HALF_TO_INTEGER(TO)                                                                  \
  OCLCC_FROM_HALF_MODES(TO, )                                                                      \
  OCLCC_FROM_HALF_MODES(TO, _sat)
OCLCC_HALF_TO_INTEGER(char)
OCLCC_HALF_TO_INTEGER(uchar)
OCLCC_HALF_TO_INTEGER(short)
OCLCC_HALF_TO_INTEGER(ushort)
OCLCC_HALF_TO_INTEGER(int)
OCLCC_HALF_TO_INTEGER(uint)
OCLCC_HALF_TO_INTEGER(long)
OCLCC_HALF_TO_INTEGER(ulong)
#define OCLCC_EXACT(TO, FROM)                                                                      \
  OCLCC_CONVERT(TO, FROM, , (TO)x)                                                                 \
  OCLCC_CONVERT(TO, FROM, _rte, (TO)x)                                                             \
  OCLCC_CONVERT(TO, FROM, _rtz, (TO)x)                                                             \
  OCLCC_CONVERT(TO, FROM, _rtp, (TO)x)                                                             \
  OCLCC_CONVERT(TO, FROM, _rtn, (TO)x)
OCLCC_EXACT(float, half)
OCLCC_EXACT(double, half)
OCLCC_EXACT(half, half)

// To half. Those of integers that float does not have need the instruction.

#define OCLCC_INTEGER_TO_HALF(MODE)                                                                \
  OCLCC_CVT(half_of_int_##MODE, ushort, "h", int, "r", "cvt." #MODE ".f16.s32")                    \
  OCLCC_CVT(half_of_uint_##MODE, ushort, "h", uint, "r", "cvt." #MODE ".f16.u32")                  \
  OCLCC_CVT(half_of_long_##MODE, ushort, "h", long, "l", "cvt." #MODE ".f16.s64")                  \
  OCLCC_CVT(half_of_ulong_##MODE, ushort, "h", ulong, "l", "cvt." #MODE ".f16.u64")
OCLCC_INTEGER_TO_HALF(rn)
OCLCC_INTEGER_TO_HALF(rz)
OCLCC_INTEGER_TO_HALF(rp)
OCLCC_INTEGER_TO_HALF(rm)
#define OCLCC_TO_HALF(FROM, INSTRUCTION)                                                           \
  OCLCC_CONVERT(half, FROM, , AS_HALF(INSTRUCTION##_rn(x)))                                        \
  OCLCC_CONVERT(half, FROM, _rte, AS_HALF(INSTRUCTION##_rn(x)))                                    \
  OCLCC_CONVERT(half, FROM, _rtz, AS_HALF(INSTRUCTION##_rz(x)))                                    \
  OCLCC_CONVERT(half, FROM, _rtp, AS_HALF(INSTRUCTION##_rp(x)))                                    \
  OCLCC_CONVERT(half, FROM, _rtn, AS_HALF(INSTRUCTION##_rm(x)))
OCLCC_TO_HALF(char, oclcc_half_of_int)
OCLCC_TO_HALF(uchar, oclcc_half_of_int)
OCLCC_TO_HALF(short, oclcc_half_of_int)
OCLCC_TO_HALF(ushort, oclcc_half_of_int)
OCLCC_TO_HALF(int, oclcc_half_of_int)
OCLCC_TO_HALF(uint, oclcc_half_of_uint)
OCLCC_TO_HALF(long, oclcc_half_of_long)
OCLCC_TO_HALF(ulong, oclcc_half_of_ulong)
OCLCC_TO_HALF(float, oclcc_half)
OCLCC_TO_HALF(double, oclcc_half)

// Images: those of float.

#define OCLCC_READ_HALF(IMAGE, C)                                                                  \
  BUILT_IN float4 read_imagef(read_only IMAGE, C);                                                 \
  BUILT_IN half4 read_imageh(read_only IMAGE image, C at) {                                        \
    const float4 x = read_imagef(image, at);                                                       \
    return (half4)((half)x.x, (half)x.y, (half)x.z, (half)x.w);                                    \
  }
#define OCLCC_SAMPLE_HALF(IMAGE, C)                                                                \
  BUILT_IN float4 read_imagef(read_only IMAGE, sampler_t, C);                                      \
  BUILT_IN half4 read_imageh(read_only IMAGE image, sampler_t sampler, C at) {                     \
    const float4 x = read_imagef(image, sampler, at);                                              \
    return (half4)((half)x.x, (half)x.y, (half)x.z, (half)x.w);                                    \
  }
#define OCLCC_WRITE_HALF(IMAGE, C)                                                                 \
  BUILT_IN void write_imagef(write_only IMAGE, C, float4);                                         \
  BUILT_IN void write_imageh(write_only IMAGE image, C at, half4 x) {                              \
    write_imagef(image, at, (float4)((float)x.x, (float)x.y, (float)x.z, (float)x.w));             \
  }
#define OCLCC_IMAGE_OF_HALF(IMAGE, C, F)                                                           \
  OCLCC_READ_HALF(IMAGE, C)                                                                        \
  OCLCC_SAMPLE_HALF(IMAGE, C)                                                                      \
  OCLCC_SAMPLE_HALF(IMAGE, F)                                                                      \
  OCLCC_WRITE_HALF(IMAGE, C)
OCLCC_IMAGE_OF_HALF(image1d_t, int, float)
OCLCC_IMAGE_OF_HALF(image1d_array_t, int2, float2)
OCLCC_IMAGE_OF_HALF(image2d_t, int2, float2)
OCLCC_IMAGE_OF_HALF(image2d_array_t, int4, float4)
OCLCC_IMAGE_OF_HALF(image3d_t, int4, float4)
OCLCC_READ_HALF(image1d_buffer_t, int)
OCLCC_WRITE_HALF(image1d_buffer_t, int)
