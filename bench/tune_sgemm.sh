#!/bin/bash
# tune_sgemm.sh BUILD [SIZE] [OPTION…]: measures variants of kernels/sgemm.cl with `oclcc --tune`, for
# square matrices of SIZE (512) columns, on every device that it sees. The options are those of --tune.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
oclcc=$(realpath "$1")/oclcc/oclcc
size=${2:-512}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
variant() { # M N K, and those of a work-item
  echo "tile$1x$2x$3_item$4x$5=-DTILE_M=$1 -DTILE_N=$2 -DTILE_K=$3 -DITEM_M=$4 -DITEM_N=$5"
}
"$oclcc" "$root/kernels/sgemm.cl" "@$root/runtime_demo/sgemm.options" \
  --variant "$(variant 16 16 16 4 4)" --variant "$(variant 32 32 16 4 4)" -o "$folder/sgemm.clbin"
"$oclcc" --tune "$folder/sgemm.clbin" "${@:3}" --launch "sgemm[${size}x$size]=
  ceil(L/(TILE_N?128))*local0 x ceil(M/(TILE_M?128)):
  M=$size,N=$size,L=$size,A=random(f32,M*N),B=random(f32,N*L),C=zero(f32,M*L)"
