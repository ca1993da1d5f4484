#!/bin/bash
# Counts the starts of drivers: one with -j1, one per worker with more jobs, and one more for each
# crash. A layer logs the processes that query the platforms, because the ICD loader opens drivers
# then.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
export CLBIN_CACHE=0
for name in first second third; do
  echo "kernel void $name(global int* a) { *a = 1; }" > $name.cl
done
# An unmeasured driver starts once per unit.
mapfile -t measured < <(oclcc --list-devices --json | python3 -c '
import json, sys
names = ("Portable Computing Language", "Oclgrind", "rusticl", "NVIDIA CUDA", "Intel(R) OpenCL")
first = {}
for device in json.load(sys.stdin)["devices"]:
    if device["platform_name"] in names:
        first.setdefault(device["platform_name"], device)
for device in first.values(): print(device["id"], device["device_name"], sep="\t")')
[ "${#measured[@]}" -gt 0 ] || { echo "there is no device of a measured driver"; exit 77; }
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario CLBIN_FAULTS_LOG=$PWD/log
: > scenario

# starts COMMAND...
starts() {
  : > log
  "$@" > output 2>&1 || [ $? = 1 ] || cat output
  grep clGetPlatformIDs log | cut -d' ' -f1 | sort -u | wc -l
}

chosen=()
for line in "${measured[@]}"; do
  chosen+=(--device "${line%%$'\t'*}")
done
echo "three programs for every device: $(starts oclcc -j1 "${chosen[@]}" ./*.cl -o out.clbin)"
# A query of CL_DRIVER_VERSION shows that a device's identity is read. All units share one identity.
asked=$(grep -c 'clGetDeviceInfo.*name=0x102d' log)
starts oclcc -j1 "${chosen[@]}" first.cl -o out.clbin > started
[ "$(cat started) $(grep -c 'clGetDeviceInfo.*name=0x102d' log)" = "1 $asked" ] ||
  echo "a worker asks for the identity of a device again"
echo "a device binary: $(starts oclcc -j1 "${chosen[@]:0:2}" first.cl -o out.bin)"
[ "$(starts oclcc -j2 "${chosen[@]:0:2}" ./*.cl -o out.clbin)" -le 2 ] || echo "more than 2 with -j2"
echo 'crash at=clCreateProgramWithSource source="void second("' > scenario
echo "with a crash: $(starts oclcc -j1 --keep-going "${chosen[@]:0:2}" ./*.cl -o out.clbin)"
: > scenario
printf 'CL_DEVICE_NAME="%s"\n' "${measured[0]#*$'\t'}" > device.txt
compiler=$ROOT/oclcc/command_line/cl_offline_compiler
echo "cl_offline_compiler: $(starts "$compiler" --source first.cl --output out.bin \
  --cl-device-info device.txt --mode binary)"
# expected output:
#| three programs for every device: 1
#| a device binary: 1
#| with a crash: 2
#| cl_offline_compiler: 1
