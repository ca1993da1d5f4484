#!/bin/bash
# The suite starts hundreds of processes at once, some for the same output. Here 64 processes share
# a cache folder, and four of them build.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"

# compile_many NAME: compiles all programs on the device with this name.
compile_many() {
  local name=$1 program run
  rm -f ./*
  device_info "$name" info
  for program in 0 1 2 3; do
    echo "kernel void k$program(global int* a) { a[0] = $program; }" > $program.cl
    oclcc --no-cache --device "$name" $program.cl -o expected.$program.bin
  done
  for run in {1..16}; do
    for program in 0 1 2 3; do
      "$offline_compiler" --mode binary --source $program.cl --output "out.$program" \
        --cl-device-info info -- -v 2> "log.$program.$run" ||
        { echo "run $run of $program on $name: exit $?"; cat "log.$program.$run"; } &
    done
  done
  wait
  echo "$(cat log.* | grep -c 'compile cache: .*hit') of 64 found theirs in the cache"
  for program in 0 1 2 3; do
    cmp out.$program expected.$program.bin
  done
  ls -d -- out.*
  ls "$TMPDIR"
}

while IFS= read -r name; do
  printed=$(compile_many "$name" 2>&1)
  wanted=$'60 of 64 found theirs in the cache\nout.0\nout.1\nout.2\nout.3'
  [ "$printed" = "$wanted" ] || echo "$printed"
done < <(device_names)
