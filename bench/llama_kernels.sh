#!/usr/bin/env bash
# Compiles the OpenCL kernels of llama.cpp (ggml's folder src/ggml-opencl/kernels, which is not in
# this repository) for nvptx:sm_80, with the options of ggml-opencl.cpp, and counts the files that
# compile. Prints the first error of each other file. The second command runs some of the compiled
# kernels on a machine with an NVIDIA GPU and compares the results (bench/llama_kernels.cpp).
#
# Usage: bench/llama_kernels.sh compile OCLCC KERNELS_DIR FOLDER [CLANG]
#        bench/llama_kernels.sh run FOLDER OUTPUT_DIR
# FOLDER contains the portable build's bench/llama_kernels for the second command. Where a file undoes
# the macros of the command line for Intel's and Adreno's sake (#undef N_SIMDWIDTH), a copy without
# that line is compiled.
set -euo pipefail

# The options of ggml-opencl.cpp for a file. Where it or the file defines a macro for Intel and
# Adreno only, the number of rows is Intel's, and the width of a sub-group is NVIDIA's.
options() {
  local relaxed="-cl-mad-enable -cl-unsafe-math-optimizations -cl-finite-math-only"
  relaxed+=" -cl-fast-relaxed-math"
  case $1 in
    gemv_noshuffle_*_spec) echo "-cl-mad-enable -DSIMDGROUP_WIDTH=32 -DLINE_STRIDE_A=2048" \
      "-DBLOCK_STRIDE_A=16384" ;;
    gemv_noshuffle_*) echo "-cl-mad-enable -DSIMDGROUP_WIDTH=32" ;;
    gem[mv]_moe_*) echo "-cl-mad-enable -cl-fast-relaxed-math" ;;
    flash_attn_*) echo "$relaxed -DDK=64 -DDV=64 -DBLOCK_M=64 -DBLOCK_N=32 -DN_SPLIT=2" \
      "-DBLK_PREPASS_BM=64 -DFA_SG=32" ;;
    gated_delta_net) echo "$relaxed -DS_V=128 -DKDA=0 -DSUBGROUP_SIZE=32 -DLANES_PER_COLUMN=8" \
      "-DCOLS_PER_LANE_GROUP=1 -DUSE_QCOM_SUBGROUP_SHUFFLE=0 -DSUBGROUPS_PER_WG=1" ;;
    mul_mv_*iq4_nl_*) echo "$relaxed -DN_SUBGROUP=1 -DN_SUBGROUP_SIZE=32 -DN_DST=$(rows "$1")" ;;
    mul_mv_*q6_k_*) echo "$relaxed -DN_SIMDWIDTH=32 -DN_SIMDGROUP=2 -DN_DST=$(rows "$1")" ;;
    mul_mv_*) echo "$relaxed -DN_SIMDWIDTH=32 -DN_SIMDGROUP=1 -DN_DST=$(rows "$1")" \
      "-DN_R0_MXFP4=2 -DN_SG_MXFP4=2 -DN_R0_Q1_0=4 -DN_SG_Q1_0=2 -DN_R0_Q8_0=4 -DN_SG_Q8_0=2" ;;
    *) echo "$relaxed" ;;
  esac
}

# How many rows a sub-group computes.
rows() {
  case $1 in
    *16x_flat) echo 16 ;;
    *8x_flat | *iq4_nl_f32_flat) echo 8 ;;
    *q6_k_f32) echo 1 ;;
    *) echo 4 ;;
  esac
}

# Those of oclcc's code for an H100 that the kernels use.
extensions=+cl_khr_fp16,+cl_khr_subgroups,+cl_khr_subgroup_shuffle,+cl_khr_integer_dot_product
extensions+=,+__opencl_c_generic_address_space

compile() {
  local oclcc=$1 kernels=$2 folder=$3 clang=${4:-clang-15} file name compiled=0 all=0 words
  mkdir -p "$folder"
  work=$(mktemp -d) # not local: the trap reads it
  trap 'rm -rf "$work"' EXIT
  for file in "$kernels"/*.cl; do
    name=$(basename "$file" .cl)
    sed '/^#undef N_/d' "$file" >"$work/$name.cl"
    read -ra words <<<"$(options "$name")"
    all=$((all + 1))
    if "$oclcc" -q "$work/$name.cl" --target nvptx:sm_80 -cl-std=CL3.0 "${words[@]}" \
      "-cl-ext=$extensions" --timeout 600 --tool "clang=$(command -v "$clang")" \
      -o "$folder/$name.clbin" 2>"$work/log"; then
      compiled=$((compiled + 1))
    else
      echo "$name: $(grep -E -m1 'error: ' "$work/log" | sed -E "s/.*(error|\.cl): //; s/'nvptx:sm_80': //")"
    fi
  done
  echo "$clang: $compiled of $all files compile"
}

run() {
  local folder=$1 out=$2
  work=$(mktemp -d) # not local: the trap reads it
  trap 'rm -rf "$work"' EXIT
  echo /usr/local/nvidia/lib64/libnvidia-opencl.so.1 >"$work/nvidia.icd"
  export OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-$work}
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-/usr/lib/x86_64-linux-gnu}
  export CUDA_CACHE_DISABLE=1
  "$folder/llama_kernels" "${PLATFORM:-NVIDIA}" "$folder" 2>&1 | tee "$out/llama_kernels.txt"
}

"$@"
