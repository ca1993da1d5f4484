#!/usr/bin/env bash
# Bundles that the oclcc of Linux made, loaded on PoCL by programs for Windows: Wine's OpenCL.dll leads
# to the OpenCL platforms of this machine. load_bundles.sh SOURCES DLL LOAD LOAD_MODES EMULATOR…
set -euo pipefail
sources=$1 programs=("${@:2:3}")
shift 4
skip() {
  echo "skipped: $*"
  exit 77
}
oclcc=$sources/build/dev/oclcc/oclcc
[[ -x $oclcc ]] || oclcc=$(command -v oclcc) || skip "no oclcc (cmake --build --preset dev --target oclcc)"
[[ -e /etc/OpenCL/vendors/pocl.icd ]] || skip "PoCL is not installed"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir platforms none
cp "${programs[@]}" . # a DLL is found beside its program
load=./${programs[1]##*/} load_modes=./${programs[2]##*/}
cp /etc/OpenCL/vendors/pocl.icd platforms
export POCL_CACHE_DIR=$PWD/pocl
run() { # PROGRAM ARGUMENT…: prints what it prints, with the lines of Linux
  OCL_ICD_VENDORS=$PWD/platforms CLBIN_CACHE_DIR="Z:${PWD//\//\\}\\cache" "${emulator[@]}" "$@" 2>&1 | tr -d '\r'
}
emulator=("$@")
expect() { # TEXT PROGRAM ARGUMENT…
  local got
  got=$(run "${@:2}") || true
  if [[ $got != "$1" ]]; then
    printf '%s\n' "${*:2}" "expected: $1" "got: $got"
    exit 1
  fi
}

# The entry serves the device that it was made for, unless the policy is to build source.
OCL_ICD_VENDORS=$PWD/platforms "$oclcc" --no-cache "$sources/examples/saxpy.cl" -o own.clbin
expect $'never: ENTRY\nif needed: ENTRY\nagain: ENTRY\nalways: SOURCE' "$load_modes" own.clbin
run "$load" own.clbin >report
cat report
grep -q "program 'saxpy', variant 'default': loaded from the bundle's binary" report
[[ $(tail -n 1 report) == "12 24 36 48" || $(head -n 1 report) == "12 24 36 48" ]]
[[ -d cache/attempts ]] # the quarantine of the attempts

# Without an entry for the device, only source serves.
OCL_ICD_VENDORS=$PWD/none "$oclcc" --no-cache --target nvptx:sm_70 "$sources/examples/saxpy.cl" -o foreign.clbin ||
  skip "oclcc found no clang for the second part: the first one passed"
expect $'never: CLBIN_ERROR_NO_MATCHING_ENTRY\nif needed: SOURCE\nagain: SOURCE\nalways: SOURCE' \
  "$load_modes" foreign.clbin

# The messages are those of Linux.
expect "load: cannot open 'missing': No such file or directory" "$load" missing
head -c 100 own.clbin >cut.clbin
expect "load: 'cut.clbin': prefix: total_bytes is $(stat -c %s own.clbin), but only 100 bytes are present" \
  "$load" cut.clbin
