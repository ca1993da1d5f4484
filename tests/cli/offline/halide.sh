#!/bin/bash
# What Halide 21.0.0 (MIT licence) generates for a blur of three pixels and passes to clBuildProgram, as
# recorded with PoCL: its options have blanks.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs amdgcn:gfx90a
needs spirv:1.2
options="-D MAX_CONSTANT_BUFFER_SIZE=524288 -D MAX_CONSTANT_ARGS=8"
make_bundle recording "$CLI_TESTS/offline/halide.cl" blur default "$options" _kernel_blur_s0_y_yo_block_id_y cpu-a \
  '_kernel_blur_s0_y_yo_block_id_y 2 16 8 1' halide.clbin
oclcc halide.clbin --target nvptx:sm_70 --target amdgcn:gfx90a --target spirv:1.2 -o new.clbin; echo "exit $?"
oclcc --info new.clbin | grep -E '^  (options|entry|launched)|^    kernel'
# expected output:
#| exit 0
#|   options   -D MAX_CONSTANT_BUFFER_SIZE=524288 -D MAX_CONSTANT_ARGS=8
#|   launched  _kernel_blur_s0_y_yo_block_id_y: 16x8
#|   entry     PTX 6.0 for sm_70
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)
#|   entry     AMD code object gfx90a
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)
#|   entry     SPIR-V 1.0
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)
