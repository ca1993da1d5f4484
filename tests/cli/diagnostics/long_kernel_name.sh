#!/bin/bash
# PoCL aborts on a kernel name that is too long for a directory. The message names the kernel and
# the reason.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
device=$(device_of "portable computing") || { cat skip_reason; exit 77; }
name=$(printf 'long%.0s' {1..64})
echo "kernel void $name(global int* a) { *a = 1; }" > k.cl
oclcc --device "$device" k.cl -o k.clbin 2> messages && { echo "this PoCL has no limit"; exit 77; }
echo "exit $?"
cat messages
# expected output:
#| exit 1
#| oclcc: error: k.cl: '*': the compiler crashed (signal 6) while making the binary; PoCL cannot make the binary of kernel 'longlonglonglonglonglonglonglonglonglong...', whose name has 256 characters, more than 254
