#!/bin/bash
# -cl-* options are passed to the compiler, are ignored with a warning, or are errors.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
cat > k.cl <<'END'
kernel void k(global float* a) { a[0] = a[1] / a[2]; a[3] = sqrt(a[4]); a[5] = a[6] * 0.1; }
END
# ptx WORDS: prints the instructions in the PTX.
ptx() {
  oclcc k.cl --target nvptx:sm_70 "$@" -o k.ptx &&
    echo "$*: $(grep -o -E '(div|sqrt|rcp|mul|cvt)\.[a-z0-9.]*f(32|64)|^\.maxnreg.*' k.ptx | sort -u | tr '\n' ' ')"
}
ptx
ptx -cl-fp32-correctly-rounded-divide-sqrt
ptx -cl-fast-relaxed-math | sed s/mul.rn.f64/mul.f64/ # clang 17 and later name the rounding
ptx -cl-denorms-are-zero
ptx -cl-single-precision-constant
ptx -cl-nv-maxrregcount=32
ptx -cl-opt-disable
oclcc k.cl --target nvptx:sm_70 -cl-nv-opt-level=1; echo "exit $?"
oclcc k.cl --target spirv:1.2 -cl-denorms-are-zero -o k.spv; echo "exit $?"
oclcc k.cl --target spirv:1.2 -cl-denorms-are-zero -Werror -o w.spv; echo "exit $?"
cat > version.cl <<'END'
#if VERSION != __OPENCL_C_VERSION__
#error other version
#endif
kernel void k(global float* a) { *a = 1; }
END
oclcc version.cl --target nvptx:sm_70 -DVERSION=300 -o v.ptx # the driver's default
oclcc version.cl --target nvptx:sm_70 -DVERSION=120 -cl-std=CL1.2 -o v.ptx
oclcc version.cl --target nvptx:sm_70 -DVERSION=200 -cl-std=CL2.0 -o v.ptx
# expected output:
#| : cvt.f64.f32 cvt.rn.f32.f64 div.full.f32 mul.rn.f64 sqrt.approx.f32 
#| -cl-fp32-correctly-rounded-divide-sqrt: cvt.f64.f32 cvt.rn.f32.f64 div.rn.f32 mul.rn.f64 sqrt.rn.f32 
#| -cl-fast-relaxed-math: cvt.f64.f32 cvt.rn.f32.f64 div.approx.f32 mul.f64 sqrt.approx.f32 
#| -cl-denorms-are-zero: cvt.ftz.f64.f32 cvt.rn.ftz.f32.f64 div.full.ftz.f32 mul.rn.f64 sqrt.approx.f32 
#| -cl-single-precision-constant: div.full.f32 mul.rn.f32 sqrt.approx.f32 
#| -cl-nv-maxrregcount=32: .maxnreg 32 cvt.f64.f32 cvt.rn.f32.f64 div.full.f32 mul.rn.f64 sqrt.approx.f32 
#| -cl-opt-disable: cvt.f64.f32 cvt.rn.f32.f64 div.full.f32 mul.rn.f64 sqrt.approx.f32 
#| exit 1
#| exit 0
#| exit 1
# expected errors:
#| k.cl: warning: '-cl-opt-disable' has no effect on 'nvptx:sm_70'
#| oclcc: error: k.cl: 'nvptx:sm_70': its compiler does not know the option '-cl-nv-opt-level=1'
#| k.cl: warning: '-cl-denorms-are-zero' has no effect on 'spirv:1.2'
#| k.cl: error: '-cl-denorms-are-zero' has no effect on 'spirv:1.2' [-Werror]
