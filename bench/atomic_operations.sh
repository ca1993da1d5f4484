#!/usr/bin/env bash
# Compiles bench/atomic_operations.cl for bench/atomic_operations, with a variant for each type,
# address space, order and scope.
#
# Usage: bench/atomic_operations.sh OCLCC BUNDLE OPTIONS OF OCLCC
# For NVIDIA's devices: bench/atomic_operations.sh oclcc atomic.clbin --target nvptx:sm_70
set -euo pipefail
oclcc=$(realpath "$1")
bundle=$2
shift 2

variants=()
for type in int uint long ulong; do
  unit=0x10001
  is_long=
  if [[ $type == *long ]]; then
    unit=0x1000000010001
    is_long=-DIS_LONG
  fi
  for place in far near; do
    words="-DTYPE=$type -DATOMIC=atomic_$type -DUNIT=((TYPE)$unit) $is_long"
    if [[ $place == near ]]; then
      words+=" -DNEAR"
    fi
    variants+=(--variant "$type-$place=$words")
    for order in relaxed acq_rel seq_cst; do
      for scope in sub_group work_group device all_devices; do
        variants+=(--variant
          "$type-$place-$order-$scope=$words -DORDER=$order -DSCOPE=$scope")
      done
    done
  done
done
if [[ $* == *nvptx:* ]]; then
  extensions=-cl-ext=+cl_khr_subgroups
  for feature in order_acq_rel order_seq_cst scope_device scope_all_devices; do
    extensions+=,+__opencl_c_atomic_$feature
  done
  set -- "$@" "$extensions"
fi
"$oclcc" "$(dirname "$0")/atomic_operations.cl" -q -cl-std=CL3.0 \
  "${variants[@]}" "$@" -o "$bundle"
