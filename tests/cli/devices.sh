#!/bin/bash
# Tests of which devices there are, and which are chosen.

### identity
# The features of this machine: those that Slurm accepts, and a pattern of --device for each device.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
oclcc --identity > line
grep -c -x -E 'Feature=oclcc_[a-z0-9_]+_[0-9a-f]{16}(,oclcc_[a-z0-9_]+_[0-9a-f]{16})*' line
oclcc --identity --json > json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/identity.schema.json" < json
python3 -c '
import json
machine = json.load(open("json"))
print("Feature=" + ",".join(machine["features"]))
assert {item["feature"] for item in machine["devices"] + machine["tools"]} == set(machine["features"])
for device in machine["devices"]:
    print(device["feature"], device["device_name"], file=open("devices", "a"))
' | cmp - line
# Each feature selects its device, or several that are the same, and no other.
while read -r feature name; do
  oclcc --list-devices --device "$feature" --json |
    python3 -c 'import json, sys; print(*{device["device_name"] for device in json.load(sys.stdin)["devices"]})' |
    cmp - <(echo "$name")
done < devices
oclcc --list-devices --device oclcc_pocl_0000000000000000 2>&1 | cut -d ';' -f 1
# Without a driver, the features of offline targets; without both, an error.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent
python3 -c 'import json; print(*[tools["feature"] for tools in json.load(open("json"))["tools"]], sep="\n")' | sort > tools
if grep -q . tools; then
  oclcc --identity > line
  diff <(tr '=,' '\n' < line | tail -n +2) tools
else
  # There is no tool either: the error of the next line.
  oclcc --identity > line 2>&1 && cat line
  echo 'oclcc: note: only for offline targets: no OpenCL device found' >&2
fi
PATH=/nonexistent $(command -v oclcc) --identity; echo "exit $?"
oclcc --identity --tool clang=nowhere; echo "exit $?"
oclcc --identity k.cl; echo "exit $?"
# expected output:
#| 1
#| fits the schema
#| oclcc: error: no device matches 'oclcc_pocl_0000000000000000'
#| exit 5
#| exit 3
#| exit 2
# expected errors:
#| oclcc: note: only for offline targets: no OpenCL device found*
#| oclcc: error: no OpenCL device found*
#| oclcc: error: '--tool clang=nowhere': there is no such file, also not in PATH
#| oclcc: error: '--identity' accepts no input file, but 'k.cl' is given

### il
# --verify --run and --explain report IL that a device accepts as IL.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
device=${devices%%$'\n'*}
make_bundle il k.clbin
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario
for versions in SPIR-V_1.2 SPIR-V_0.9; do
  echo "answer at=clGetDeviceInfo name=CL_DEVICE_IL_VERSION value=\"$versions\"" > scenario
  oclcc --verify --run --device "$device" k.clbin; echo "exit $?"
  oclcc --verify --run --json --device "$device" k.clbin 2> /dev/null | grep entries_not_run
  oclcc --explain --device "$device" k.clbin | grep -o "would build .*"
done

# IL whose recorded options must not reach a driver is not built.
make_bundle options k.clbin "-include /etc/passwd" hostile.clbin
echo "answer at=clGetDeviceInfo name=CL_DEVICE_IL_VERSION value=\"SPIR-V_1.2\"" > scenario
oclcc --explain --device "$device" hostile.clbin | tail -n +2
# expected output:
#| exit 0
#|       "entries_not_run": 1,
#| would build the source
#| would build IL
#| exit 0
#|       "entries_not_run": 1,
#| would build the source
#| would build the source
#|   program 'matmul', variant 'fast': the driver would build the source
#|   program 'matmul', variant 'default': the driver would build the source
#|     not attempted, IL, entry for 'spirv:1.0': the bundle's build options contain '-include', which libclbin does not pass to a compiler: it passes only -D, -U, -cl-*, -w, -W*, -O*, -g and -x spir
# expected errors:
#| oclcc: note: k.clbin: 1 of 1 entries contain IL that a driver of this machine would build: not run
#| oclcc: note: k.clbin: 1 of 1 entries match no device of this machine: not run

### left_out_once
# A driver that crashes when its devices are listed is reported once per run, for any number of
# bundles.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin
cp k.clbin l.clbin
mkdir vendors
cp "$OCL_ICD_VENDORS"/*.icd vendors
cat > crash.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void crash(void) { abort(); }
END
gcc -shared -fPIC crash.c -o crash.so
echo "$PWD/crash.so" > vendors/zz_crash.icd
export OCL_ICD_VENDORS=$PWD/vendors
for mode in "--verify --run" --explain; do
  # shellcheck disable=SC2086 # two words
  oclcc $mode k.clbin l.clbin > out; echo "$mode: exit $?"
done
[ "$(grep -c 'the bundle.s binary loads' out)" = "$((2 * device_count))" ] || cat out
# expected output:
#| --verify --run: exit 0
#| --explain: exit 0
# expected errors:
#| oclcc: warning: '*/crash.so' is skipped: while listing its devices, it crashed (signal 6)
#| oclcc: warning: '*/crash.so' is skipped: while listing its devices, it crashed (signal 6)

### list
# Prints a line for each device: number, kind, platform, name, driver. -v prints the whole table.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
oclcc --list-devices | grep -v -E '^[0-9]+:[0-9]+  (gpu|cpu|accelerator|custom|other) +[^ ].*[^ ]$'
oclcc --list-devices -v > table
for property in platform 'global memory' 'local memory' clock 'largest work-group' extensions; do
  [ "$(grep -c "^    $property" table)" -ge "$device_count" ] || echo "no $property in -v"
done

### list_json
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
schema=$ROOT/oclcc/schema/list-devices.schema.json
oclcc --list-devices --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
oclcc --list-devices --json | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    print(device["id"], device["device_name"])
' > from_json
oclcc --list-devices | awk '{print $1}' | paste -d ' ' - <(cut -d ' ' -f 2- from_json) | cmp - from_json
# expected output:
#| fits the schema

### no_loader
# The ICD loader is missing, or is not a library: exit 5, and a note about what to install.
mkdir broken
: > broken/libOpenCL.so.1
: > broken/libOpenCL.so
export LD_LIBRARY_PATH=$PWD/broken
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl; echo "exit $?"
oclcc --list-devices; echo "exit $?"
oclcc --version > /dev/null; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| exit 0
#| broken
#| k.cl
# expected errors:
#| oclcc: error: cannot open the OpenCL loader (*/broken/libOpenCL.so.1: file too short)
#| oclcc: error: cannot open the OpenCL loader (*/broken/libOpenCL.so.1: file too short)

### no_platform
# Exit 5, and a note about what to install.
mkdir none
export OCL_ICD_VENDORS=$PWD/none
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl; echo "exit $?"
oclcc --list-devices; echo "exit $?"
oclcc --list-devices --json; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| exit 5
#| k.cl
#| none
# expected errors:
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU
#| oclcc: note: '--target' compiles without a device, for the targets of '--list-targets'; '--source-only' writes a bundle of the sources
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU

### pattern
# By number, by kind, by a part of a name in any case; several patterns are a union.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
for device in $devices; do
  oclcc --device "$device" k.cl -o one.clbin
  [ "$(entries one.clbin)" = 1 ] || echo "--device $device did not make one entry"
  # A platform's name means all its devices.
  [ "$(echo "$devices" | grep -c "^${device%:*}:")" = 1 ] || continue
  name=$(oclcc --info -v one.clbin | sed -n 's/^    platform  //p' | tr a-z A-Z)
  oclcc --device "$name" k.cl -o named.clbin
  cmp one.clbin named.clbin
done
arguments=()
for device in $devices; do arguments+=(--device "$device"); done
oclcc "${arguments[@]}" k.cl -o union.clbin
oclcc --device all k.cl -o all.clbin
cmp union.clbin all.clbin

### pattern_that_matches_nothing
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --device 'no such thing' k.cl; echo "exit $?"
oclcc --device 90:90 k.cl; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| k.cl
# expected errors:
#| oclcc: error: no device matches 'no such thing'; there are *
#| oclcc: error: no device matches '90:90'; there are *

### reflection_of_targets
# The arguments of kernels in code objects and zebins are the same as a driver reports for the
# source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only rusticl
for target in amdgcn:gfx906 intel:skl; do
  if ! oclcc --list-targets | grep -q -x "$target"; then
    oclcc --list-targets | grep "^$target "
    exit 77
  fi
done
oclcc "$ROOT/tests/unit/format/binaries/arguments.cl" --device "$device" \
  --target amdgcn:gfx906 --target intel:skl -o all.clbin || exit
for target in amdgcn:gfx906 intel:skl; do
  oclcc --strip all.clbin --keep-target "$target" -q -o target.clbin
  oclcc --info -v target.clbin | grep '^    kernel' > "$target"
  oclcc --strip all.clbin --drop-target "$target" -q -o all.clbin
done
oclcc --info -v all.clbin | grep '^    kernel' > driver
cat driver
cmp amdgcn:gfx906 driver
cmp intel:skl driver
# expected output:
#|     kernel    every_space(global const float* restrict in, global volatile uint* out, constant const uchar4* table, local float* scratch, int count, float4 v, pair p, global pair* ps, global scalar* s, ulong n, uchar z)
#|     kernel    images(global read_only image2d_t in, global write_only image2d_t out, sampler_t s, global read_only image3d_t cube)
#|     kernel    nothing()

### source_only
# Each device builds the source of a bundle that contains only source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --source-only -o k.clbin || exit
[ "$(entries k.clbin)" -eq 0 ] && echo "no entry"
[ "$(oclcc --explain k.clbin | grep -c 'source')" -ge "$device_count" ] && echo "every device builds it"
# expected output:
#| no entry
#| every device builds it

### unloadable_driver
# A driver is installed but cannot be loaded. The message states the reason and does not ask to
# install one.
[ -z "$ASAN_OPTIONS$TSAN_OPTIONS" ] || { echo "sanitizers need all of the memory"; exit 77; }
mkdir broken none
echo "no library" > broken/driver.so
echo "$PWD/broken/driver.so" > broken/driver.icd
OCL_ICD_VENDORS=$PWD/broken oclcc --list-devices; echo "exit $?"
ulimit -v 8388608
OCL_ICD_VENDORS=$PWD/broken oclcc --list-devices; echo "exit $?"
OCL_ICD_VENDORS=$PWD/none oclcc --list-devices; echo "exit $?"
# expected output:
#| exit 5
#| exit 5
#| exit 5
# expected errors:
#| oclcc: error: no OpenCL device found: cannot load '*/broken/driver.so': */broken/driver.so: *
#| oclcc: error: no OpenCL device found: cannot load '*/broken/driver.so': */broken/driver.so: *; this process may use no more than 8192 MiB of virtual memory (ulimit -v)
#| oclcc: error: no OpenCL device found; this process may use no more than 8192 MiB of virtual memory (ulimit -v)

### with_targets
# --target alone leaves installed devices out. With --device, a bundle has both.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
if ! oclcc --list-targets | grep -q -x spirv:1.2; then
  oclcc --list-targets | grep '^spirv:1.2 '
  exit 77
fi
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o devices.clbin
oclcc k.cl --target spirv:1.2 -o target.clbin && oclcc --info -v target.clbin | grep '^    target'
oclcc k.cl --target spirv:1.2 --device all -o both.clbin
[ "$(entries both.clbin)" -eq $(($(entries devices.clbin) + 1)) ] && echo "both"
oclcc --merge devices.clbin target.clbin -o merged.clbin && oclcc --repack merged.clbin -o repacked.clbin
cmp both.clbin repacked.clbin && echo "the same as merged"
# expected output:
#|     target    spirv:1.2
#| both
#| the same as merged
