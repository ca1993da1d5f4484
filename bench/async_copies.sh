#!/usr/bin/env bash
# Compiles bench/async_copies.cl for bench/async_copies: the default variant is measured, one for
# each type is checked.
#
# Usage: bench/async_copies.sh OCLCC BUNDLE OPTIONS OF OCLCC
# For NVIDIA's devices: bench/async_copies.sh oclcc copies.clbin --target nvptx:sm_80
set -euo pipefail
oclcc=$(realpath "$1")
bundle=$2
shift 2

types=(char uchar short ushort int uint long ulong float double)
if [[ $* == *nvptx:* ]]; then
  types+=(half)
  set -- "$@" -cl-ext=+cl_khr_fp16
fi
variants=(--variant default=)
for type in "${types[@]}"; do
  for width in '' 2 3 4 8 16; do
    variants+=(--variant "$type$width=-DTYPE=$type$width")
  done
done
"$oclcc" "$(dirname "$0")/async_copies.cl" -q "${variants[@]}" "$@" -o "$bundle"
