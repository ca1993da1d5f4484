#!/usr/bin/env bash
# Compiles with oclcc for Windows, in Wine. For offline targets, it starts small programs that run the
# compilers of this machine, and makes the bundle that oclcc for Linux makes with these. On PoCL, behind
# Wine's OpenCL.dll, it makes a bundle whose binary a program for Windows loads.
# compile.sh SOURCES OCLCC UNIX_TOOL LOAD DLL EMULATOR…
set -euo pipefail
sources=$1 program=$2 unix_tool=$3 loader=("$4" "$5")
shift 5
emulator=("$@")
skip() {
  echo "skipped: $*"
  exit 77
}
for word in "${emulator[@]}"; do
  [[ $word != WINEPREFIX=* ]] || prefix=${word#*=}
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir tools platforms
cp "${loader[@]}" .
here=Z:${PWD//\//\\}
export CLBIN_CACHE_DIR="$here\\cache" WINEPATH="$here\\tools" OCL_ICD_VENDORS=$PWD/platforms
# Wine's server and its services, which it starts, must not keep the output of this test open.
"${emulator[@]}" cmd /c exit >/dev/null 2>&1
on_windows() { # WORD…
  "${emulator[@]}" "$program" "$@"
}
fail() {
  printf '%s\n' "$@"
  exit 1
}

# Without a compiler and without a device.
cp "$sources/examples/saxpy.cl" .
status=0
got=$(on_windows --target spirv:1.2 saxpy.cl 2>&1) || status=$?
[[ $status == 5 && $got == *"'spirv:1.2' needs programs that are not installed"* ]] || fail "no tools: $got"

# A compiler that hangs, or needs too much memory, is ended, also if oclcc is killed, whose folder the next
# run removes.
cp "$unix_tool" hanging.exe
hang=(--no-cache --target spirv:1.2 saxpy.cl --tool clang="$here\\hanging.exe"
  --tool llvm-spirv="$here\\hanging.exe" --tool spirv-val="$here\\hanging.exe")
wait_until() { # COMMAND…
  local i
  for ((i = 0; i < 200; ++i)); do
    ! "$@" || return 0
    sleep 0.1
  done
  fail "waited in vain: $*"
}
hangs() { pgrep -f "^Z:.*${folder##*/}.hanging.exe" >/dev/null; }
ended() { ! hangs; }
homes() { find "$prefix/drive_c/users" -maxdepth 3 -name 'oclcc-workers-*'; }
status=0
got=$(UNIX_TOOL_HANGS=1 on_windows "${hang[@]}" --timeout 1 2>&1) || status=$?
[[ $status == 1 && $got == *"hanging.exe did not finish within 1 s"* ]] || fail "a compiler hangs ($status): $got"
got=$(UNIX_TOOL_HANGS=1 on_windows "${hang[@]}" --memory-limit 1M 2>&1) || true
[[ $got == *"hanging.exe used more than 1 MiB of memory"* ]] || fail "a compiler needs memory: $got"
wait_until ended
[[ -z $(homes) ]] || fail "a folder is left"
UNIX_TOOL_HANGS=1 "${emulator[@]}" "$program" "${hang[@]}" &
wait_until hangs
kill -9 $!
wait $! 2>/dev/null || true
wait_until ended
[[ -n $(homes) ]]
on_windows --list-devices >/dev/null 2>&1 || true
[[ -z $(homes) ]] || fail "the folder of a killed run is left"

# With the compilers of this machine. Those for Linux are scripts, so that neither side knows the build
# ID of a compiler.
linux=$sources/build/dev/oclcc/oclcc
tools=(clang-15 llvm-spirv-15 spirv-val)
missing=""
for tool in "${tools[@]}" "$linux"; do
  command -v "$tool" >/dev/null || missing=$tool
done
if [[ -n $missing ]]; then
  echo "not compared with the bundle of Linux: there is no $missing"
else
  mkdir scripts
  for tool in "${tools[@]}"; do
    cp "$unix_tool" "tools/$tool.exe"
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$tool")" >"scripts/$tool"
    chmod +x "scripts/$tool"
  done
  targets=(--no-cache --target nvptx:sm_70 --target spirv:1.2 saxpy.cl)
  "$linux" "${targets[@]}" --tool clang="$PWD/scripts/clang-15" \
    --tool llvm-spirv="$PWD/scripts/llvm-spirv-15" --tool spirv-val="$PWD/scripts/spirv-val" -o linux.clbin
  on_windows "${targets[@]}" -o windows.clbin
  cmp linux.clbin windows.clbin || fail "the bundles of an offline compile differ"
  status=0
  printf 'kernel void broken( {}\n' >broken.cl
  got=$(on_windows --no-cache --target spirv:1.2 broken.cl 2>&1) || status=$?
  [[ $status == 1 && $got == *"broken.cl:1:21: error: expected ')'"* ]] || fail "a broken source ($status): $got"
fi

# On PoCL, each unit in a new process. Wine 8 does not compile programs with headers (clCompileProgram).
[[ -e /etc/OpenCL/vendors/pocl.icd ]] || skip "PoCL is not installed"
cp /etc/OpenCL/vendors/pocl.icd platforms
cp "$sources/kernels/elementwise.cl" .
on_windows --no-cache saxpy.cl elementwise.cl -o pocl.clbin
on_windows --verify --run pocl.clbin
"${emulator[@]}" ./load.exe pocl.clbin >report 2>&1 || fail "$(cat report)"
grep -q "program 'saxpy', variant 'default': loaded from the bundle's binary" report || fail "$(cat report)"
[[ -z $(homes) ]] || fail "a folder of workers is left"
