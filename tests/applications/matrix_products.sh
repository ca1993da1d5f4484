#!/usr/bin/env bash
# The products of clbin/matrix.clh are right on every device. Skipped without an OpenCL driver.
#
# Usage: matrix_products.sh OCLCC PROGRAM
set -euo pipefail
source=$(dirname "$(realpath "$0")")/matrix_products.cl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work POCL_CACHE_DIR=$work/pocl
mkdir "$work/pocl"

status=0
"$1" "$source" -q -o "$work/binaries.clbin" || status=$?
if [[ $status -eq 5 ]]; then # no device
  exit 77
fi
"$2" "$work/binaries.clbin" | tee "$work/output"
grep -q 'f16, loops: 96 of 96 right' "$work/output"
