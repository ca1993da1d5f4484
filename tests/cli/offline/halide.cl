/*OpenCL C arch_unknown-64-os_unknown-tune_znver3-avx-avx2-f16c-fma-jit-opencl-sse41-user_context*/
#pragma OPENCL FP_CONTRACT ON
inline float float_from_bits(unsigned int x) {return as_float(x);}
inline float nan_f32() { return NAN; }
inline float neg_inf_f32() { return -INFINITY; }
inline float inf_f32() { return INFINITY; }
#define halide_maybe_unused(x)

__kernel void _at_least_one_kernel(int x) { }
// Address spaces for _kernel_blur_s0_y_yo_block_id_y
#define __address_space__blur __global
#define __address_space__p0 __global
__kernel void _kernel_blur_s0_y_yo_block_id_y(
 __address_space__blur uchar *restrict _blur,
 __address_space__p0 const uchar *restrict _p0,
 const int _blur_extent_1,
 const int _blur_min_1,
 const int _blur_stride_1,
 const int _p0_stride_1,
 const int _t22,
 const int _t23,
 const int _t24,
 const int _t25,
 const int _t26,
 __local int16* __shared)
{
 int _blur_s0_y_yo_block_id_y = get_group_id(1);
 int _blur_s0_x_xo_block_id_x = get_group_id(0);
 int _thread_id_y = get_local_id(1);
 int _thread_id_x = get_local_id(0);
 int _0 = _blur_s0_y_yo_block_id_y * 8;
 int _1 = _blur_extent_1 + -8;
 int _2 = min(_0, _1);
 bool _3 = _blur_s0_x_xo_block_id_x < _t22;
 if (_3)
 {
  int _4 = _blur_min_1 + _2;
  int _5 = _4 + _thread_id_y;
  int _6 = _5 * _p0_stride_1;
  int _7 = _blur_s0_x_xo_block_id_x * 16;
  int _8 = _7 + _t23;
  int _9 = _6 + _8;
  int _10 = _9 + _thread_id_x;
  uchar _11 = _p0[_10];
  ushort _12 = (ushort)(_11);
  int _13 = _10 + 1;
  uchar _14 = _p0[_13];
  ushort _15 = (ushort)(_14);
  ushort _16 = _12 + _15;
  int _17 = _10 + 2;
  uchar _18 = _p0[_17];
  ushort _19 = (ushort)(_18);
  ushort _20 = _16 + _19;
  ushort _21 = (ushort)(3ul);
  ushort _22 = _20 / _21;
  uchar _23 = (uchar)(_22);
  int _24 = _5 * _blur_stride_1;
  int _25 = _7 + _t24;
  int _26 = _24 + _25;
  int _27 = _26 + _thread_id_x;
  _blur[_27] = _23;
 } // if _3
 else
 {
  int _28 = _blur_min_1 + _2;
  int _29 = _28 + _thread_id_y;
  int _30 = _29 * _p0_stride_1;
  int _31 = _30 + _t25;
  int _32 = _31 + _thread_id_x;
  int _33 = _32 + -16;
  uchar _34 = _p0[_33];
  ushort _35 = (ushort)(_34);
  int _36 = _32 + -15;
  uchar _37 = _p0[_36];
  ushort _38 = (ushort)(_37);
  ushort _39 = _35 + _38;
  int _40 = _32 + -14;
  uchar _41 = _p0[_40];
  ushort _42 = (ushort)(_41);
  ushort _43 = _39 + _42;
  ushort _44 = (ushort)(3ul);
  ushort _45 = _43 / _44;
  uchar _46 = (uchar)(_45);
  int _47 = _29 * _blur_stride_1;
  int _48 = _47 + _t26;
  int _49 = _48 + _thread_id_x;
  int _50 = _49 + -16;
  _blur[_50] = _46;
 } // if _3 else
} // kernel _kernel_blur_s0_y_yo_block_id_y
#undef __address_space__blur
#undef __address_space__p0
