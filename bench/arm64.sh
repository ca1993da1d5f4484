#!/usr/bin/env bash
# The wheel for ARM64, and programs that load, on PoCL for ARM64: in a chroot of Debian 12 in qemu
# (.ci/fresh_machine). Takes about half an hour. Requires what script/bootstrap --arm64 installs, and
# a built oclcc for this machine, which makes a bundle for its PoCL.
# Usage: bench/arm64.sh OCLCC
set -euo pipefail
cd "$(dirname "$0")/.."

# In the chroot: one bundle for a device of both machines, loaded by C++ programs.
load_bundles() {
  python3 -m zipfile -e build/wheel-arm64/dist/*.whl /tmp/wheel
  local native=/tmp/wheel/clbin/_native program
  chmod +x "$native/oclcc"
  export LD_LIBRARY_PATH=$native
  for program in examples/load tests/windows/load_modes; do
    g++ -std=c++17 -O1 "$program.cpp" -Ilibclbin/include "$native/libclbin.so.1" -lOpenCL \
      -o "/tmp/${program##*/}"
  done
  uname -m
  "$native/oclcc" --list-devices
  "$native/oclcc" -q examples/saxpy.cl -o /tmp/own.clbin
  "$native/oclcc" --merge /tmp/own.clbin build/wheel-arm64/x86.clbin -o /tmp/both.clbin
  for bundle in build/wheel-arm64/x86.clbin /tmp/own.clbin /tmp/both.clbin; do
    echo "== ${bundle##*/}"
    /tmp/load "$bundle"
    /tmp/load_modes "$bundle"
  done
}
if [[ $1 == --inside ]]; then
  load_bundles
  exit
fi

OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "$1" -q --no-cache examples/saxpy.cl -o build/x86.clbin
script/wheel arm64
mv build/x86.clbin build/wheel-arm64
packages="pocl-opencl-icd ocl-icd-opencl-dev opencl-clhpp-headers g++ python3-pyopencl python3-pytest"
packages+=" python3-venv python3-pip"
FRESH_MACHINE_BRING="$(echo build/wheel-arm64/dist/*.whl) build/wheel-arm64/x86.clbin" \
  .ci/fresh_machine bookworm:arm64 \
  "apt-get -q update >apt.log && apt-get -q install -y --no-install-recommends $packages >apt.log" \
  "bench/arm64.sh --inside" \
  "python/tests/run.sh debian build/wheel-arm64/dist/*.whl"
