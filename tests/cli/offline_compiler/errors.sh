#!/bin/bash
# Exit statuses are the same as oclcc's. Nothing is written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
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
