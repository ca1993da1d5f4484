// Types, vector macros, and bit casts for the built-in functions on nvptx64-nvidia-nvcl: all of
// OpenCL C, for which clang has declarations only. They are compiled without the compiler's OpenCL
// header. prologue.cl comes first, the other files follow in one translation unit.
//
// The functions are derived from the OpenCL C specification and from the PTX ISA. A comment names
// the rule where the code does not show it.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define OCLCC_VECTOR(T)                                                                            \
  typedef T T##2 __attribute__((ext_vector_type(2)));                                              \
  typedef T T##3 __attribute__((ext_vector_type(3)));                                              \
  typedef T T##4 __attribute__((ext_vector_type(4)));                                              \
  typedef T T##8 __attribute__((ext_vector_type(8)));                                              \
  typedef T T##16 __attribute__((ext_vector_type(16)));
OCLCC_VECTOR(char)
OCLCC_VECTOR(uchar)
OCLCC_VECTOR(short)
OCLCC_VECTOR(ushort)
OCLCC_VECTOR(int)
OCLCC_VECTOR(uint)
OCLCC_VECTOR(long)
OCLCC_VECTOR(ulong)
OCLCC_VECTOR(float)
OCLCC_VECTOR(double)
OCLCC_VECTOR(half)

// A built-in function, which has one overload for each argument type.
#define BUILT_IN __attribute__((overloadable))
// A built-in function whose value depends on its arguments only.
#define PURE_BUILT_IN __attribute__((overloadable, const))
// A part of a built-in function.
#define PART static __attribute__((always_inline)) inline
// A part that is rarely executed.
#define RARE_PART static __attribute__((noinline))

#define AS_INT(x) __builtin_astype((float)(x), int)
#define AS_UINT(x) __builtin_astype((float)(x), uint)
#define AS_FLOAT(x) __builtin_astype((uint)(x), float)
#define AS_LONG(x) __builtin_astype((double)(x), long)
#define AS_ULONG(x) __builtin_astype((double)(x), ulong)
#define AS_DOUBLE(x) __builtin_astype((ulong)(x), double)

#define OCLCC_WIDTHS(M, ...)                                                                       \
  M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)

// Also of scalars, for which N is empty.
#define OCLCC_SIZES(M, ...) M(, __VA_ARGS__) OCLCC_WIDTHS(M, __VA_ARGS__)

// Vector overloads of a function of one, two, and three arguments, component by component.
#define OCLCC_MAP1_(N, NAME, R, A)                                                                 \
  PURE_BUILT_IN R##N NAME(A##N a) {                                                                \
    R##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = NAME(a[i]);                               \
    return r;                                                                                      \
  }
#define OCLCC_MAP2_(N, NAME, R, A, B)                                                              \
  PURE_BUILT_IN R##N NAME(A##N a, B##N b) {                                                        \
    R##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = NAME(a[i], b[i]);                         \
    return r;                                                                                      \
  }
#define OCLCC_MAP3_(N, NAME, R, A, B, C)                                                           \
  PURE_BUILT_IN R##N NAME(A##N a, B##N b, C##N c) {                                                \
    R##N r;                                                                                        \
    _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = NAME(a[i], b[i], c[i]);                   \
    return r;                                                                                      \
  }
#define MAP1(NAME, R, A) OCLCC_WIDTHS(OCLCC_MAP1_, NAME, R, A)
#define MAP2(NAME, R, A, B) OCLCC_WIDTHS(OCLCC_MAP2_, NAME, R, A, B)
#define MAP3(NAME, R, A, B, C) OCLCC_WIDTHS(OCLCC_MAP3_, NAME, R, A, B, C)

PART uint oclcc_mul_hi_u32(uint a, uint b) {
  return (uint)(((ulong)a * b) >> 32);
}
PART ulong oclcc_mul_hi_u64(ulong a, ulong b) {
  return (ulong)(((unsigned __int128)a * b) >> 64);
}
