#!/bin/bash
# Exit statuses are the same as oclcc's. Nothing is written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"
name=$(device_names | head -n 1)
device_info "$name" info
device_info "No such device" other
grep -v CL_DEVICE_NAME info > nameless
echo 'kernel void k(global int* a) { a[0] = 1; }' > k.cl
echo 'kernel void k(global int* a) { a[0] = missing; }' > bad.cl
run() {
  "$offline_compiler" "$@" > out 2>&1
  echo "exit $?: $(head -n 1 out)"
  cat out > last
}
run --source k.cl --output k.bin --cl-device-info info --mode online
run --source k.cl --output k.bin --cl-device-info info
run --source k.cl --output k.bin --mode binary
run --source k.cl --output k.bin --cl-device-info info --mode
run --source k.cl --output k.bin --cl-device-info info --fast
run --source none.cl --output k.bin --cl-device-info info --mode binary
run --source k.cl --output k.bin --cl-device-info none --mode binary
run --source k.cl --output none/k.bin --cl-device-info info --mode binary
run --source k.cl --output k.bin --cl-device-info nameless --mode binary
run --source k.cl --output k.bin --cl-device-info info --mode binary -- --no-such-option
run --source k.cl --output k.bin --cl-device-info other --mode binary
run --source bad.cl --output k.bin --cl-device-info info --mode binary
grep -c "bad.cl:1:39: error: .*'missing'" last
ls
# expected output:
#| exit 2: cl_offline_compiler: error: --mode takes binary or spir-v, not 'online'
#| exit 2: cl_offline_compiler: error: --mode is missing
#| exit 2: cl_offline_compiler: error: --cl-device-info is missing
#| exit 2: cl_offline_compiler: error: option '--mode' needs a value
#| exit 2: cl_offline_compiler: error: unrecognized option '--fast'
#| exit 3: cl_offline_compiler: error: cannot open 'none.cl'
#| exit 3: cl_offline_compiler: error: cannot open 'none'
#| exit 3: cl_offline_compiler: error: cannot write beside 'none/k.bin'
#| exit 2: cl_offline_compiler: error: 'nameless' has no CL_DEVICE_NAME
#| exit 2: oclcc: error: unrecognized option '--no-such-option'*
#| exit 5: oclcc: error: no device matches 'No such device'; there are *
#| exit 1: bad.cl:1:39: error: *'missing'*
#| 1
#| bad.cl
#| info
#| k.cl
#| last
#| nameless
#| other
#| out
