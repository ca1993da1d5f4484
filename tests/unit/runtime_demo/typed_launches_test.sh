#!/usr/bin/env bash
# typed_launches_test.sh BUILD_FOLDER: builds the demo of typed launchers, and runs it. On every
# device, each of its kernels comes from the embedded bundle, and its results match the references.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
say() { printf 'typed_launches_test: %s\n' "$*"; }

if ! "$build/oclcc/oclcc" --list-devices > "$scratch/devices"; then
  say "there is no OpenCL device"
  exit 77
fi
# A bundle that was made with another driver version may have to build from source.
rm -f "$build/runtime_demo/typed_kernels.clbin"
cmake --build "$build" --target typed_launches > "$scratch/build.log" 2>&1 ||
  { cat "$scratch/build.log"; exit 1; }
"$build/runtime_demo/typed_launches" > "$scratch/printed" || { cat "$scratch/printed"; exit 1; }
cat "$scratch/printed"
for kernel in vadd mul transpose matrixMul_tiled; do
  passed=$(grep -cE "^  $kernel +PASSED, from the bundle's binary\$" "$scratch/printed" || true)
  [[ $passed == "$(wc -l < "$scratch/devices")" ]] ||
    { say "$kernel passed on $passed devices of $(wc -l < "$scratch/devices")"; exit 1; }
done

status=0
OCL_ICD_VENDORS=/no/such "$build/runtime_demo/typed_launches" 2> "$scratch/errors" || status=$?
[[ $status == 5 && $(cat "$scratch/errors") == "typed_launches: error: there is no OpenCL device" ]] ||
  { say "without a device: exit $status: $(cat "$scratch/errors")"; exit 1; }
