#!/bin/bash
# --verify --run and --explain report IL that a device accepts as IL.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
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
