# Warm starts after updates of drivers, and --warm under faults. cache.sh tests what else it does.
# shellcheck shell=bash

# A source for programs p1, p2 and p3.
write_programs() {
  for i in 1 2 3; do
    echo "kernel void p$i(global int* a) { *a = $i; }" > p$i.cl
  done
  oclcc --source-only p1.cl p2.cl p3.cl -o s.clbin
}
# warm OPTION…: prints the numbers without the device, and the exit status.
warm() {
  local status=0
  oclcc --warm --device "$device" "$@" > printed || status=$?
  sed 's/.*: //' printed
  echo "exit $status"
}

### driver_update
# After an update, --warm builds what the bundle and the user cache no longer serve. The next start
# compiles nothing: a layer refuses that.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
write_programs
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario
old='answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value="999.1"'
new='answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value="999.2"'
strict=$'fail at=clBuildProgram origin=source code=-3\nfail at=clCompileProgram code=-3'
# start NAME: prints NAME before each line of a run for both bundles.
start() { warm old.clbin s.clbin 2> errors | sed "s/^/$1: /"; }
update() {
  device=$1
  echo "$old" > scenario
  oclcc --device "$device" p1.cl p2.cl -o old.clbin
  start old
  printf '%s\n' "$new" "$strict" > scenario
  start 'strict, before' | tail -1
  echo "$new" > scenario
  start new
  printf '%s\n' "$new" "$strict" > scenario
  start 'strict, after'
  printf '%s\n' "$old" "$strict" > scenario
  start 'strict, taken back'
}
on_each_device update > all
awk -v count="$device_count" '!seen[$0]++ {lines[++n] = $0} {times[$0]++}
  END {for (i = 1; i <= n; i++) print times[lines[i]] / count, lines[i]}' all
# expected output:
#| 1 old: 2 from the bundle, 0 from the user cache, 3 built
#| 1 old: exit 0
#| 1 strict, before: exit 1
#| 1 new: 0 from the bundle, 2 from the user cache, 3 built
#| 1 new: exit 0
#| 1 strict, after: 0 from the bundle, 5 from the user cache, 0 built
#| 1 strict, after: exit 0
#| 1 strict, taken back: 2 from the bundle, 3 from the user cache, 0 built
#| 1 strict, taken back: exit 0

### full_disk
# What cannot be stored is an error. What was stored stays, and another run stores the rest.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
write_programs
oclcc --source-only p1.cl -o first.clbin
mkdir small
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
export device
export -f warm
# shellcheck disable=SC2016 # the inner shell expands it
unshare -rm bash -c '
  mount -t tmpfs -o size=1m none small || { echo "cannot mount a tmpfs"; exit 77; }
  export CLBIN_CACHE_DIR=$PWD/small/cache
  warm first.clbin
  find small -type f | sort > before
  cat /dev/zero > small/filler 2> /dev/null
  warm s.clbin 2> errors
  grep -c "program .p[23].*: what was built is not in the user cache: .*: No space left on device$" errors
  find small -type f ! -name filler | sort > after
  comm -23 before after
  rm small/filler
  warm s.clbin
  warm s.clbin'
# expected output:
#| 0 from the bundle, 0 from the user cache, 1 built
#| exit 0
#| 0 from the bundle, 1 from the user cache, 0 built
#| exit 1
#| 2
#| 0 from the bundle, 1 from the user cache, 2 built
#| exit 0
#| 0 from the bundle, 3 from the user cache, 0 built
#| exit 0

### at_once
# Two runs build each program once.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
write_programs
for run in 1 2; do
  oclcc --warm --device "$device" s.clbin > out.$run &
done
wait -n; echo "exit $?"
wait -n; echo "exit $?"
sed 's/.*: //' out.1 out.2 | awk '{cached += $5; built += $10} END {print cached " from the user cache, " built " built"}'
warm s.clbin
# expected output:
#| exit 0
#| exit 0
#| 3 from the user cache, 3 built
#| 0 from the bundle, 3 from the user cache, 0 built
#| exit 0

### killed
# A run that is killed loses at most what it was building. The next one completes the work.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
export CLBIN_CACHE_DIR=$PWD/cache
stored() { find cache/programs -name '*.clbin' 2> /dev/null | sort; }
valid() { stored | xargs -r oclcc -q --verify || echo "an entry is invalid"; }
for _ in 1 2 3; do
  rm -rf cache
  write_programs
  for ((attempt = 0; attempt < 6; ++attempt)); do
    stored > before
    oclcc -q --warm --device "$device" s.clbin &
    sleep "0.$((RANDOM % 400 + 10))"
    kill -KILL $! 2> /dev/null
    wait $! 2> /dev/null
    stored > after
    comm -23 before after # what was lost
    valid
  done
  warm s.clbin | tail -1
  stored | wc -l
  valid
  warm s.clbin
done
ls "$TMPDIR"
# expected output:
#| exit 0
#| 3
#| 0 from the bundle, 3 from the user cache, 0 built
#| exit 0
#| exit 0
#| 3
#| 0 from the bundle, 3 from the user cache, 0 built
#| exit 0
#| exit 0
#| 3
#| 0 from the bundle, 3 from the user cache, 0 built
#| exit 0
