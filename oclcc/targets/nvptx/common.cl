// Common, relational and geometric functions, the moves between memory and vectors, and those math
// functions that are instructions of the device. OpenCL C defines each by the expression below.

// Overloads for scalars and vectors of a function that is one expression of a, b and c for both.
// R, A, B and C are the types of scalars.
#define OCLCC_EACH1_(N, NAME, R, A, ...)                                                           \
  PURE_BUILT_IN R##N NAME(A##N a) {                                                                \
    return (R##N)(__VA_ARGS__);                                                                    \
  }
#define OCLCC_EACH2_(N, NAME, R, A, B, ...)                                                        \
  PURE_BUILT_IN R##N NAME(A##N a, B##N b) {                                                        \
    return (R##N)(__VA_ARGS__);                                                                    \
  }
#define OCLCC_EACH3_(N, NAME, R, A, B, C, ...)                                                     \
  PURE_BUILT_IN R##N NAME(A##N a, B##N b, C##N c) {                                                \
    return (R##N)(__VA_ARGS__);                                                                    \
  }
#define EACH1(...) OCLCC_SIZES(OCLCC_EACH1_, __VA_ARGS__)
#define EACH2(...) OCLCC_SIZES(OCLCC_EACH2_, __VA_ARGS__)
#define EACH3(...) OCLCC_SIZES(OCLCC_EACH3_, __VA_ARGS__)

// Extremes of numbers. Those of a NaN and a number are the number, as fmin and fmax require.
#define OCLCC_EXTREMES_SCALAR(N, NAME, T, OPERATION)                                               \
  PURE_BUILT_IN T##N NAME(T##N a, T b) {                                                           \
    return OPERATION(a, (T##N)b);                                                                  \
  }
#define OCLCC_EXTREMES(NAME, T, OPERATION)                                                         \
  EACH2(NAME, T, T, T, OPERATION(a, b))                                                            \
  OCLCC_WIDTHS(OCLCC_EXTREMES_SCALAR, NAME, T, OPERATION)
#define OCLCC_CLAMP_SCALAR(N, T)                                                                   \
  PURE_BUILT_IN T##N clamp(T##N a, T low, T high) {                                                \
    return __builtin_elementwise_min(__builtin_elementwise_max(a, (T##N)low), (T##N)high);         \
  }
#define OCLCC_ORDERED_TYPE(T)                                                                      \
  OCLCC_EXTREMES(min, T, __builtin_elementwise_min)                                                \
  OCLCC_EXTREMES(max, T, __builtin_elementwise_max)                                                \
  EACH3(clamp, T, T, T, T, __builtin_elementwise_min(__builtin_elementwise_max(a, b), c))          \
  OCLCC_WIDTHS(OCLCC_CLAMP_SCALAR, T)
OCLCC_ORDERED_TYPE(char)
OCLCC_ORDERED_TYPE(uchar)
OCLCC_ORDERED_TYPE(short)
OCLCC_ORDERED_TYPE(ushort)
OCLCC_ORDERED_TYPE(int)
OCLCC_ORDERED_TYPE(uint)
OCLCC_ORDERED_TYPE(long)
OCLCC_ORDERED_TYPE(ulong)
OCLCC_ORDERED_TYPE(float)
OCLCC_ORDERED_TYPE(double)

// Functions of T by clang's functions of this type, which have the suffix F: "f" or nothing. The
// constants are those of the specification, for degrees and radians rounded to the type.
#define OCLCC_COMMON(T, F, DEGREES, RADIANS)                                                       \
  OCLCC_EXTREMES(fmin, T, __builtin_elementwise_min)                                               \
  OCLCC_EXTREMES(fmax, T, __builtin_elementwise_max)                                               \
  EACH1(fabs, T, T, __builtin_elementwise_abs(a))                                                  \
  EACH1(ceil, T, T, __builtin_elementwise_ceil(a))                                                 \
  EACH1(floor, T, T, __builtin_elementwise_floor(a))                                               \
  EACH1(trunc, T, T, __builtin_elementwise_trunc(a))                                               \
  OCLCC_SCALAR1(rint, T, __builtin_rint##F(x))                                                     \
  OCLCC_SCALAR1(sqrt, T, __builtin_sqrt##F(x))                                                     \
  EACH1(degrees, T, T, a*(T)DEGREES)                                                               \
  EACH1(radians, T, T, a*(T)RADIANS)                                                               \
  OCLCC_SCALAR1(sign, T, x > 0 ? (T)1 : (x < 0 ? (T)-1 : (x == 0 ? x : (T)0)))                     \
  OCLCC_SCALAR2(copysign, T, __builtin_copysign##F(x, y))                                          \
  OCLCC_SCALAR3(fma, T, __builtin_fma##F(x, y, z))                                                 \
  OCLCC_SCALAR3(mad, T, __builtin_fma##F(x, y, z))                                                 \
  OCLCC_SCALAR3(mix, T, __builtin_fma##F(y - x, z, x))                                             \
  OCLCC_SCALAR2(step, T, y < x ? (T)0 : (T)1)                                                      \
  OCLCC_SCALAR2(maxmag, T, OCLCC_BY_SIZE(T, F, >, fmax))                                           \
  OCLCC_SCALAR2(minmag, T, OCLCC_BY_SIZE(T, F, <, fmin))                                           \
  PURE_BUILT_IN T smoothstep(T low, T high, T x) {                                                 \
    const T t = clamp((x - low) / (high - low), (T)0, (T)1);                                       \
    return t * t * ((T)3 - (T)2 * t);                                                              \
  }                                                                                                \
  MAP3(smoothstep, T, T, T, T)                                                                     \
  OCLCC_WIDTHS(OCLCC_COMMON_SCALARS, T)
#define OCLCC_SCALAR1(NAME, T, VALUE)                                                              \
  PURE_BUILT_IN T NAME(T x) {                                                                      \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP1(NAME, T, T)
#define OCLCC_SCALAR2(NAME, T, VALUE)                                                              \
  PURE_BUILT_IN T NAME(T x, T y) {                                                                 \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP2(NAME, T, T, T)
#define OCLCC_SCALAR3(NAME, T, VALUE)                                                              \
  PURE_BUILT_IN T NAME(T x, T y, T z) {                                                            \
    return VALUE;                                                                                  \
  }                                                                                                \
  MAP3(NAME, T, T, T, T)
#define OCLCC_BY_SIZE(T, F, OPERATOR, OTHERWISE)                                                   \
  (__builtin_fabs##F(x) OPERATOR __builtin_fabs##F(y)                                              \
       ? x                                                                                         \
       : (__builtin_fabs##F(y) OPERATOR __builtin_fabs##F(x) ? y : OTHERWISE(x, y)))
#define OCLCC_COMMON_SCALARS(N, T)                                                                 \
  PURE_BUILT_IN T##N mix(T##N x, T##N y, T z) {                                                    \
    return mix(x, y, (T##N)z);                                                                     \
  }                                                                                                \
  PURE_BUILT_IN T##N step(T edge, T##N x) {                                                        \
    return step((T##N)edge, x);                                                                    \
  }                                                                                                \
  PURE_BUILT_IN T##N smoothstep(T low, T high, T##N x) {                                           \
    return smoothstep((T##N)low, (T##N)high, x);                                                   \
  }
OCLCC_COMMON(float, f, 0x1.ca5dc2p+5, 0x1.1df46ap-6)
OCLCC_COMMON(double, , 0x1.ca5dc1a63c1f8p+5, 0x1.1df46a2529d39p-6)

// A relation is 1 for scalars, and all bits for a component. I is the type of those of vectors.
#define OCLCC_TESTS(NAME, T, I, ...)                                                               \
  PURE_BUILT_IN int NAME(T a) {                                                                    \
    return __VA_ARGS__;                                                                            \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_EACH1_, NAME, I, T, __VA_ARGS__)
#define OCLCC_COMPARISON(NAME, T, I, ...)                                                          \
  PURE_BUILT_IN int NAME(T a, T b) {                                                               \
    return __VA_ARGS__;                                                                            \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_EACH2_, NAME, I, T, T, __VA_ARGS__)
#define OCLCC_SIGN_BITS(N, T, I)                                                                   \
  PURE_BUILT_IN I##N signbit(T##N a) {                                                             \
    return __builtin_astype(a, I##N) < 0;                                                          \
  }
#define OCLCC_SIZE_OF(X) __builtin_elementwise_abs(X)
#define OCLCC_RELATIONS(T, I, LEAST)                                                               \
  OCLCC_COMPARISON(isequal, T, I, a == b)                                                          \
  OCLCC_COMPARISON(isnotequal, T, I, a != b)                                                       \
  OCLCC_COMPARISON(isgreater, T, I, a > b)                                                         \
  OCLCC_COMPARISON(isgreaterequal, T, I, a >= b)                                                   \
  OCLCC_COMPARISON(isless, T, I, a < b)                                                            \
  OCLCC_COMPARISON(islessequal, T, I, a <= b)                                                      \
  OCLCC_COMPARISON(islessgreater, T, I, (a < b) | (a > b))                                         \
  OCLCC_COMPARISON(isordered, T, I, (a == a) & (b == b))                                           \
  OCLCC_COMPARISON(isunordered, T, I, (a != a) | (b != b))                                         \
  OCLCC_TESTS(isnan, T, I, a != a)                                                                 \
  OCLCC_TESTS(isinf, T, I, OCLCC_SIZE_OF(a) == (T)__builtin_inf())                                 \
  OCLCC_TESTS(isfinite, T, I, OCLCC_SIZE_OF(a) < (T)__builtin_inf())                               \
  OCLCC_TESTS(isnormal, T, I,                                                                      \
              (OCLCC_SIZE_OF(a) >= (T)LEAST) & (OCLCC_SIZE_OF(a) < (T)__builtin_inf()))            \
  PURE_BUILT_IN int signbit(T a) {                                                                 \
    return __builtin_astype(a, I) < 0;                                                             \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_SIGN_BITS, T, I)
OCLCC_RELATIONS(float, int, 0x1p-126)
OCLCC_RELATIONS(double, long, 0x1p-1022)

// The most significant bit of any or all components: of one after the other, because the back end
// takes halves of a vector of char apart in memory.
#define OCLCC_JOINED_2(X, O) (X.s0 O X.s1)
#define OCLCC_JOINED_3(X, O) (X.s0 O X.s1 O X.s2)
#define OCLCC_JOINED_4(X, O) (X.s0 O X.s1 O X.s2 O X.s3)
#define OCLCC_JOINED_8(X, O) (OCLCC_JOINED_4(X, O) O X.s4 O X.s5 O X.s6 O X.s7)
#define OCLCC_JOINED_16(X, O)                                                                      \
  (OCLCC_JOINED_8(X, O) O X.s8 O X.s9 O X.sa O X.sb O X.sc O X.sd O X.se O X.sf)
#define OCLCC_ANY_OF(N, T)                                                                         \
  PURE_BUILT_IN int any(T##N x) {                                                                  \
    return OCLCC_JOINED_##N(x, |) < 0;                                                             \
  }                                                                                                \
  PURE_BUILT_IN int all(T##N x) {                                                                  \
    return OCLCC_JOINED_##N(x, &) < 0;                                                             \
  }
#define OCLCC_ANY(T)                                                                               \
  PURE_BUILT_IN int any(T x) {                                                                     \
    return x < 0;                                                                                  \
  }                                                                                                \
  PURE_BUILT_IN int all(T x) {                                                                     \
    return x < 0;                                                                                  \
  }                                                                                                \
  OCLCC_WIDTHS(OCLCC_ANY_OF, T)
OCLCC_ANY(char)
OCLCC_ANY(short)
OCLCC_ANY(int)
OCLCC_ANY(long)

// The operator ?: of vectors reads the most significant bit of each component, too. I and U are the
// signed and the unsigned type of this size.
#define OCLCC_SELECTS(T, I, U)                                                                     \
  EACH3(select, T, T, T, I, c ? b : a)                                                             \
  EACH3(select, T, T, T, U, c ? b : a)
OCLCC_SELECTS(char, char, uchar)
OCLCC_SELECTS(uchar, char, uchar)
OCLCC_SELECTS(short, short, ushort)
OCLCC_SELECTS(ushort, short, ushort)
OCLCC_SELECTS(int, int, uint)
OCLCC_SELECTS(uint, int, uint)
OCLCC_SELECTS(long, long, ulong)
OCLCC_SELECTS(ulong, long, ulong)
OCLCC_SELECTS(float, int, uint)
OCLCC_SELECTS(double, long, ulong)

#define OCLCC_BITSELECT(T) EACH3(bitselect, T, T, T, T, a ^ ((a ^ b) & c))
OCLCC_BITSELECT(char)
OCLCC_BITSELECT(uchar)
OCLCC_BITSELECT(short)
OCLCC_BITSELECT(ushort)
OCLCC_BITSELECT(int)
OCLCC_BITSELECT(uint)
OCLCC_BITSELECT(long)
OCLCC_BITSELECT(ulong)
#define OCLCC_BITSELECT_OF_BITS(N, T, U)                                                           \
  PURE_BUILT_IN T##N bitselect(T##N a, T##N b, T##N c) {                                           \
    return __builtin_astype(bitselect(__builtin_astype(a, U##N), __builtin_astype(b, U##N),        \
                                      __builtin_astype(c, U##N)),                                  \
                            T##N);                                                                 \
  }
OCLCC_SIZES(OCLCC_BITSELECT_OF_BITS, float, uint)
OCLCC_SIZES(OCLCC_BITSELECT_OF_BITS, double, ulong)

// shuffle takes the component that the low bits of each number of the mask name. An index that is a
// constant costs nothing. Others read private memory: the back end stores the vector for each index
// that LLVM makes of comparisons or of x[i].
#define OCLCC_SHUFFLE_(N, M, T, U)                                                                 \
  PURE_BUILT_IN T##N shuffle(T##M x, U##N mask) {                                                  \
    T##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = ((const T*)&x)[mask[i] & (M - 1)];        \
    return r;                                                                                      \
  }
#define OCLCC_SHUFFLE_OF_2(N, T, U)                                                                \
  PURE_BUILT_IN T##N shuffle(T##2 x, U##N mask) {                                                  \
    T##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = (mask[i] & 1) != 0 ? x.y : x.x;           \
    return r;                                                                                      \
  }
#define OCLCC_SHUFFLE2_(N, M, BOTH, T, U)                                                          \
  PURE_BUILT_IN T##N shuffle2(T##M x, T##M y, U##N mask) {                                         \
    return shuffle((T##BOTH)(x, y), mask);                                                         \
  }
#define OCLCC_SHUFFLE2_16(N, T, U)                                                                 \
  PURE_BUILT_IN T##N shuffle2(T##16 x, T##16 y, U##N mask) {                                       \
    const T##16 both[2] = {x, y};                                                                  \
    T##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = ((const T*)both)[mask[i] & 31];           \
    return r;                                                                                      \
  }
#define OCLCC_POWERS(M, ...)                                                                       \
  M(2, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)
#define OCLCC_SHUFFLES_OF(T, U)                                                                    \
  OCLCC_POWERS(OCLCC_SHUFFLE_OF_2, T, U)                                                           \
  OCLCC_POWERS(OCLCC_SHUFFLE_, 4, T, U)                                                            \
  OCLCC_POWERS(OCLCC_SHUFFLE_, 8, T, U)                                                            \
  OCLCC_POWERS(OCLCC_SHUFFLE_, 16, T, U)                                                           \
  OCLCC_POWERS(OCLCC_SHUFFLE2_, 2, 4, T, U)                                                        \
  OCLCC_POWERS(OCLCC_SHUFFLE2_, 4, 8, T, U)                                                        \
  OCLCC_POWERS(OCLCC_SHUFFLE2_, 8, 16, T, U)                                                       \
  OCLCC_POWERS(OCLCC_SHUFFLE2_16, T, U)
OCLCC_SHUFFLES_OF(char, uchar)
OCLCC_SHUFFLES_OF(uchar, uchar)
OCLCC_SHUFFLES_OF(short, ushort)
OCLCC_SHUFFLES_OF(ushort, ushort)
OCLCC_SHUFFLES_OF(int, uint)
OCLCC_SHUFFLES_OF(uint, uint)
OCLCC_SHUFFLES_OF(long, ulong)
OCLCC_SHUFFLES_OF(ulong, ulong)
OCLCC_SHUFFLES_OF(float, uint)
OCLCC_SHUFFLES_OF(double, ulong)

// vloadn and vstoren: the address is aligned as one component. Three components are moved one by
// one, because the compiler moves four for a vector of three.
#define OCLCC_LOAD_(N, T, SPACE)                                                                   \
  BUILT_IN __attribute__((pure)) T##N vload##N(ulong at, const SPACE T* p) {                       \
    typedef T##N unaligned __attribute__((aligned(sizeof(T))));                                    \
    return *(const SPACE unaligned*)(p + N * at);                                                  \
  }
#define OCLCC_LOADS(T, SPACE)                                                                      \
  OCLCC_POWERS(OCLCC_LOAD_, T, SPACE)                                                              \
  BUILT_IN __attribute__((pure)) T##3 vload3(ulong at, const SPACE T* p) {                         \
    p += 3 * at;                                                                                   \
    return (T##3)(p[0], p[1], p[2]);                                                               \
  }
#define OCLCC_STORE_(N, T, SPACE)                                                                  \
  BUILT_IN void vstore##N(T##N x, ulong at, SPACE T* p) {                                          \
    typedef T##N unaligned __attribute__((aligned(sizeof(T))));                                    \
    *(SPACE unaligned*)(p + N * at) = x;                                                           \
  }
#define OCLCC_MOVES_OF(T, SPACE)                                                                   \
  OCLCC_LOADS(T, SPACE)                                                                            \
  OCLCC_POWERS(OCLCC_STORE_, T, SPACE)                                                             \
  BUILT_IN void vstore3(T##3 x, ulong at, SPACE T* p) {                                            \
    p += 3 * at;                                                                                   \
    p[0] = x.x;                                                                                    \
    p[1] = x.y;                                                                                    \
    p[2] = x.z;                                                                                    \
  }
#define OCLCC_MOVES(T)                                                                             \
  OCLCC_MOVES_OF(T, __global)                                                                      \
  OCLCC_MOVES_OF(T, __local)                                                                       \
  OCLCC_MOVES_OF(T, __private)                                                                     \
  OCLCC_LOADS(T, __constant)
OCLCC_MOVES(char)
OCLCC_MOVES(uchar)
OCLCC_MOVES(short)
OCLCC_MOVES(ushort)
OCLCC_MOVES(int)
OCLCC_MOVES(uint)
OCLCC_MOVES(long)
OCLCC_MOVES(ulong)
OCLCC_MOVES(float)
OCLCC_MOVES(double)

// Each number of half is one of float. vloada_half3 reads three components of an aligned four.
// Others that are not aligned are read one by one, because the back end of clang 19 joins them in
// pairs first.
#define OCLCC_LOAD_HALF_(N, SPACE)                                                                 \
  BUILT_IN __attribute__((pure)) float##N vload_half##N(ulong at, const SPACE half* p) {           \
    float##N r;                                                                                    \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = (float)p[N * at + i];                     \
    return r;                                                                                      \
  }                                                                                                \
  BUILT_IN __attribute__((pure)) float##N vloada_half##N(ulong at, const SPACE half* p) {          \
    return __builtin_convertvector(*(const SPACE half##N*)(p + N * at), float##N);                 \
  }
#define OCLCC_LOAD_HALF3(NAME, STEP, SPACE)                                                        \
  BUILT_IN __attribute__((pure)) float3 NAME(ulong at, const SPACE half* p) {                      \
    p += STEP * at;                                                                                \
    return (float3)((float)p[0], (float)p[1], (float)p[2]);                                        \
  }
#define OCLCC_LOAD_HALVES(SPACE)                                                                   \
  BUILT_IN __attribute__((pure)) float vload_half(ulong at, const SPACE half* p) {                 \
    return (float)p[at];                                                                           \
  }                                                                                                \
  BUILT_IN __attribute__((pure)) float vloada_half(ulong at, const SPACE half* p) {                \
    return (float)p[at];                                                                           \
  }                                                                                                \
  OCLCC_LOAD_HALF3(vload_half3, 3, SPACE)                                                          \
  OCLCC_LOAD_HALF3(vloada_half3, 4, SPACE)                                                         \
  OCLCC_POWERS(OCLCC_LOAD_HALF_, SPACE)
OCLCC_LOAD_HALVES(__global)
OCLCC_LOAD_HALVES(__local)
OCLCC_LOAD_HALVES(__private)
OCLCC_LOAD_HALVES(__constant)

// Geometric functions. A sum of squares between LOW and HIGH lost nothing that counts, and did not
// overflow. Otherwise the components are scaled by the powers of two UP or DOWN first.
#define OCLCC_DOTS(T, F)                                                                           \
  PURE_BUILT_IN T dot(T a, T b) {                                                                  \
    return a * b;                                                                                  \
  }                                                                                                \
  PURE_BUILT_IN T dot(T##2 a, T##2 b) {                                                            \
    return __builtin_fma##F(a.y, b.y, a.x * b.x);                                                  \
  }                                                                                                \
  PURE_BUILT_IN T dot(T##3 a, T##3 b) {                                                            \
    return __builtin_fma##F(a.z, b.z, dot(a.xy, b.xy));                                            \
  }                                                                                                \
  PURE_BUILT_IN T dot(T##4 a, T##4 b) {                                                            \
    return __builtin_fma##F(a.w, b.w, dot(a.xyz, b.xyz));                                          \
  }                                                                                                \
  PURE_BUILT_IN T##3 cross(T##3 a, T##3 b) {                                                       \
    return (T##3)(__builtin_fma##F(a.y, b.z, -(a.z * b.y)),                                        \
                  __builtin_fma##F(a.z, b.x, -(a.x * b.z)),                                        \
                  __builtin_fma##F(a.x, b.y, -(a.y * b.x)));                                       \
  }                                                                                                \
  PURE_BUILT_IN T##4 cross(T##4 a, T##4 b) {                                                       \
    return (T##4)(cross(a.xyz, b.xyz), 0);                                                         \
  }                                                                                                \
  PURE_BUILT_IN T length(T p) {                                                                    \
    return __builtin_fabs##F(p);                                                                   \
  }                                                                                                \
  PURE_BUILT_IN T normalize(T p) {                                                                 \
    return p != p || p == 0 ? p : __builtin_copysign##F((T)1, p);                                  \
  }
#define OCLCC_LENGTHS(N, T, F, LOW, HIGH, UP, DOWN)                                                \
  PURE_BUILT_IN T length(T##N p) {                                                                 \
    const T square = dot(p, p);                                                                    \
    if (square > (T)LOW && square < (T)HIGH)                                                       \
      return __builtin_sqrt##F(square);                                                            \
    p *= square < 1 ? (T)UP : (T)DOWN;                                                             \
    return __builtin_sqrt##F(dot(p, p)) * (square < 1 ? (T)DOWN : (T)UP);                          \
  }                                                                                                \
  PURE_BUILT_IN T##N normalize(T##N p) {                                                           \
    T square = dot(p, p);                                                                          \
    if (!(square > (T)LOW && square < (T)HIGH)) {                                                  \
      if (any(isinf(p)))                                                                           \
        p = OCLCC_DIRECTION_OF_INFINITY(p, N, T);                                                  \
      else                                                                                         \
        p *= square < 1 ? (T)UP : (T)DOWN;                                                         \
      square = dot(p, p);                                                                          \
      if (square == 0)                                                                             \
        return p;                                                                                  \
    }                                                                                              \
    return p * rsqrt(square);                                                                      \
  }
// Infinite components become 1 and finite ones 0, with their signs; a NaN remains.
#define OCLCC_DIRECTION_OF_INFINITY(P, N, T) select(P*(T)0, copysign((T##N)1, P), isinf(P))
#define OCLCC_DISTANCES(N, T)                                                                      \
  PURE_BUILT_IN T distance(T##N a, T##N b) {                                                       \
    return length(a - b);                                                                          \
  }
#define OCLCC_TO_FOUR(M, ...) M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__)
#define OCLCC_GEOMETRY(T, F, LOW, HIGH, UP, DOWN)                                                  \
  PURE_BUILT_IN T rsqrt(T);                                                                        \
  OCLCC_DOTS(T, F)                                                                                 \
  OCLCC_TO_FOUR(OCLCC_LENGTHS, T, F, LOW, HIGH, UP, DOWN)                                          \
  OCLCC_DISTANCES(, T)                                                                             \
  OCLCC_TO_FOUR(OCLCC_DISTANCES, T)
OCLCC_GEOMETRY(float, f, 0x1p-100, 0x1p126, 0x1p80, 0x1p-80)
OCLCC_GEOMETRY(double, , 0x1p-900, 0x1p1022, 0x1p600, 0x1p-600)

PURE_BUILT_IN float fast_length(float p) {
  return __builtin_fabsf(p);
}
PURE_BUILT_IN float fast_distance(float a, float b) {
  return __builtin_fabsf(a - b);
}
PURE_BUILT_IN float fast_normalize(float p) {
  return normalize(p);
}
#define OCLCC_FAST(N)                                                                              \
  PURE_BUILT_IN float fast_length(float##N p) {                                                    \
    return __nvvm_sqrt_approx_f(dot(p, p));                                                        \
  }                                                                                                \
  PURE_BUILT_IN float fast_distance(float##N a, float##N b) {                                      \
    return fast_length(a - b);                                                                     \
  }                                                                                                \
  PURE_BUILT_IN float##N fast_normalize(float##N p) {                                              \
    const float square = dot(p, p);                                                                \
    return square == 0 ? p : p * __nvvm_rsqrt_approx_f(square);                                    \
  }
OCLCC_FAST(2) OCLCC_FAST(3) OCLCC_FAST(4)
