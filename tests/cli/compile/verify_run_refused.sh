#!/bin/bash
# Entries that do not load are reported for each device. Drivers never get recorded options that
# could make a compiler read or write files.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin

# told BUNDLE TEXT: exit 1, and a line with TEXT for every device.
told() {
  oclcc --verify --run "$1" 2> told; echo "$1: exit $?"
  [ "$(grep -c "^oclcc: error: $1: program 'k', variant 'default', entry for .* on '.*': .*$2" told)" \
    = "$device_count" ] || cat told
}
make_bundle options k.clbin "-include /etc/passwd" hostile.clbin
told hostile.clbin "the bundle's build options contain '-include', which libclbin does not pass to a compiler"
make_bundle kernel k.clbin absent kernel.clbin
told kernel.clbin "absent"
make_bundle cut k.clbin cut.clbin
told cut.clbin "\(clCreateProgramWithBinary\|clBuildProgram\|clGetProgramInfo\) answered CL_\|the compiler of .* crashed"

oclcc --verify --run --json hostile.clbin k.clbin > v.json 2> /dev/null; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
[ "$(grep -c '"loads": false' v.json)" = "$device_count" ] || cat v.json
[ "$(grep -c '"loads": true' v.json)" = "$device_count" ] || cat v.json
# expected output:
#| hostile.clbin: exit 1
#| kernel.clbin: exit 1
#| cut.clbin: exit 1
#| exit 1
#| fits the schema
