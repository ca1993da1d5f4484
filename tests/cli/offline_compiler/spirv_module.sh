#!/bin/bash
# If the tools are installed, writes a SPIR-V module of a version that the device accepts.
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"
echo 'kernel void k(global double* a, read_only image2d_t i) { a[0] = get_image_width(i); }' > k.cl
echo 'kernel void k(global int* a) { a[0] = missing; }' > bad.cl
device_info "Any" info 'CL_DEVICE_IL_VERSION="SPIR-V_1.0"'
"$offline_compiler" --mode=spir-v --source=k.cl --output=k.spv64 --cl-device-info=info 2> log
status=$?
if [ $status = 5 ]; then
  cat log
  exit 77
fi
echo "exit $status"
od -A n -t x4 -N 8 k.spv64
"$offline_compiler" --mode=spir-v --source=bad.cl --output=bad.spv64 --cl-device-info=info 2> log
echo "exit $?"
grep -c "use of undeclared identifier 'missing'" log
ls bad.spv64 2> /dev/null
exit 0
# expected output:
#| exit 0
#|  07230203 00010000
#| exit 1
#| 1
