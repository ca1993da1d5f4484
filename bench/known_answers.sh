#!/usr/bin/env bash
# Makes a bundle of the demo's kernels, each with a known answer, and measures what checking these
# costs a load (known_answers.cpp), in 50 rounds, in which no answer may be wrong.
# Usage: bench/known_answers.sh BUILD BUNDLE    makes BUNDLE with the devices that are installed here
#                                               and for sm_90, then measures
#        bench/known_answers.sh BUILD           measures BUNDLE, made elsewhere
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 bundle=$2
make_bundle() {
  local n=64 in="random(f32,4096)" out="zero(f32,4096)" in64="random(f64,4096)" steps
  local row="$n,16:$n,$n,$n,$in,$in,$out"
  steps="$n,$n,$n,$in,$in,$out"
  local launches=(
    "mul=1024,64:random(f32,1000),random(f32,1000),zero(f32,1000),1000"
    "vadd=1024,64:random(f32,1000),random(f32,1000),zero(f32,1000),1000"
    "matMul=${n}x$n,8x8:$in64,$in64,zero(f64,4096),$n,$n,$n"
    "matMul_tiled=${n}x$n:$in64,$in64,zero(f64,4096),$n,$n,$n"
    "dotProduct=64,64:random(f32,1000),random(f32,1000),zero(f32,1),1000"
    "matrixMul_local_ids=16x16,16x16:zero(f32,256),random(f32,256),random(f32,256),16,16"
    "matrixMul_global_ids=${n}x$n,8x8:$out,$in,$in,$n,$n"
    "matrixMul_tiled=${n}x$n,16x16:$out,$in,$in,$n,$n"
    "transpose_naive=${n}x$n,8x8:$out,$in,$n,$n"
    "transpose=${n}x$n:$out,$in,$n,$n"
    "mat_mul=${n}x$n,8x8:$steps"
    "mat_mul_private=${n}x$n,8x8:$steps"
    "mmul_row=$row"
    "mmul_row_private=$row"
    "mmul_row_private_column_local=$row,local(256)"
    "mmul_block=${n}x$n:$steps,local(1024),local(1024)"
    "sgemm=local0,local0:128,128,128,random(f32,16384),random(f32,16384),zero(f32,16384)"
  )
  local kernels=(kernels/{cuda_ports,elementwise,matmul,matmul_steps,sgemm,transpose}.cl)
  "$build/oclcc/oclcc" "${kernels[@]}" -o "$bundle"
  # shellcheck disable=SC2046
  "$build/oclcc/oclcc" --tune "$bundle" --known-answers $(printf -- '--launch %s ' "${launches[@]}") ||
    [[ $? == 1 ]] # a device cannot launch some of them
  # What a machine with a GPU loads, which did not make the binaries.
  "$build/oclcc/oclcc" "${kernels[@]}" --target nvptx:sm_90 -o "$bundle.nvptx"
  "$build/oclcc/oclcc" --merge "$bundle" "$bundle.nvptx" -o "$bundle"
}
[[ -e $bundle ]] || make_bundle
"$build/bench/known_answers" "$bundle" 50
