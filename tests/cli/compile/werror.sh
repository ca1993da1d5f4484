#!/bin/bash
# Also on drivers that ignore -w and -Werror (Oclgrind 21.10).
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
for platform in "$OCL_ICD_VENDORS"/*.icd; do
  export OCL_ICD_VENDORS=$platform # a run with --device starts the other drivers, too
  for device in $(list_devices | awk '{print $1}'); do
    # rusticl 22.3 has no log for a build that succeeds.
    oclcc --device "$device" k.cl 2> warnings || echo "$platform $device: a warning is an error"
    grep -v -E '^k.cl:1:2: warning: careful|^    1 \| #warning careful$|^      \|  \^$' warnings
    oclcc --device "$device" -w k.cl || echo "$platform $device: -w"
    oclcc --device "$device" -q k.cl || echo "$platform $device: -q"
    oclcc --device "$device" -w -Werror k.cl || echo "$platform $device: -w -Werror"
    rm k.clbin
    oclcc --device "$device" -Werror k.cl 2> errors && echo "$platform $device: a warning is no error"
    grep -q '^k.cl:1:2: error: careful' errors || { echo "$platform $device:"; cat errors; }
    ls *.clbin 2> /dev/null
  done
done
true
