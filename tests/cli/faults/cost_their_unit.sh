#!/bin/bash
# A compiler crashes on the second of three programs, on every platform, and is killed, writes garbage,
# hangs or exhausts memory on one, because the fault layer does it in the driver's place. --keep-going
# keeps the other two programs. Without it, there is no output.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
export CLBIN_CACHE=0
for name in first second third; do
  echo "kernel void $name(global int* a) { *a = 1; }" > $name.cl
done
# choose_devices: one of each platform.
choose_devices() {
  mapfile -t platforms < <(oclcc --list-devices --json | python3 -c '
import json, sys
for name in sorted({d["platform_name"] for d in json.load(sys.stdin)["devices"]}): print(name)')
  mapfile -t chosen < <(list_devices | awk '{print $1}' | awk -F: '!seen[$1]++ {print "--device"; print $0}')
}
choose_devices
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario

# compile FAULTS OPTION...: compiles with FAULTS, one per line, in the second program on every
# platform.
compile() {
  local fault platform
  : > scenario
  for platform in "${platforms[@]}"; do
    while IFS= read -r fault; do
      echo "$fault at=clCreateProgramWithSource source=\"void second(\" platform=\"$platform\""
    done <<< "$1"
  done > scenario
  oclcc -j1 "${chosen[@]}" "${@:2}" first.cl second.cl third.cl -o out.clbin 2> messages
}

# try FAULTS MESSAGE OPTION...
try() {
  local status=0
  rm -f out.clbin
  compile "$1" --keep-going "${@:3}" || status=$?
  echo "$1: exit $status"
  oclcc --info -v out.clbin | grep '^program'
  [ "$(entries out.clbin)" = $((2 * ${#platforms[@]})) ] || oclcc --info -v out.clbin
  grep -v "$2" messages
  [ "$(grep -c "$2" messages)" -gt 0 ] || cat messages
  ls "$TMPDIR"
}

try crash 'second.cl.*crashed (signal 11)'
show_platforms 1
choose_devices
try 'crash signal=SIGKILL' 'second.cl.*was killed (signal 9); the machine may be out of memory'
try 'scribble file=3 hex=deadbeef0000000000000000' 'second.cl.*the answer is not a message'
try hang 'second.cl.*did not finish within 10 s' --timeout 10
try $'allocate bytes=1610612736\nhang' \
  'second.cl.*used more than 1024 MiB of memory (--memory-limit)' --memory-limit 1G
rm out.clbin
compile crash || echo "exit $?"
ls

# --warm loads the others, too, in workers of the lowest priority.
unset CLBIN_CACHE
oclcc --source-only first.cl second.cl third.cl -o s.clbin
warm() { oclcc --warm "${chosen[@]}" "$@" s.clbin 2> messages | sed 's/.*: //'; echo "exit ${PIPESTATUS[0]}"; }
fault='at=clCreateProgramWithSource source="void second(" platform="'${platforms[0]}'"'
echo "crash $fault" > scenario
warm
grep -c "s.clbin: program 'second', variant 'default': .* crashed (signal 11)" messages
echo "hang $fault" > scenario
warm --timeout 10 > printed &
priorities=
for ((i = 0; i < 150; ++i)); do
  priorities=$(ps -eo ni=,args= | awk '$2 ~ /oclcc/ && $3 == "--worker" {print $1}' | sort -u)
  [[ $priorities == *19* ]] && break
  sleep 0.1
done
wait
echo "$priorities" | grep -c '^ *19$'
cat printed
grep -c "s.clbin: program 'second', variant 'default': .* did not finish within 10 s" messages
# expected output:
#| crash: exit 1
#| program 'first', variant 'default'
#| program 'third', variant 'default'
#| crash signal=SIGKILL: exit 1
#| program 'first', variant 'default'
#| program 'third', variant 'default'
#| scribble file=3 hex=deadbeef0000000000000000: exit 1
#| program 'first', variant 'default'
#| program 'third', variant 'default'
#| hang: exit 1
#| program 'first', variant 'default'
#| program 'third', variant 'default'
#| allocate bytes=1610612736
#| hang: exit 1
#| program 'first', variant 'default'
#| program 'third', variant 'default'
#| exit 1
#| first.cl
#| messages
#| scenario
#| second.cl
#| third.cl
#| 0 from the bundle, 0 from the user cache, 2 built
#| exit 1
#| 1
#| 1
#| 0 from the bundle, 2 from the user cache, 0 built
#| exit 1
#| 1
