#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
mkdir a b
echo 'kernel void first(global int* a) { *a = 1; }' > a/k.cl
echo 'kernel void second(global int* a) { *a = 2; }' > b/k.cl
oclcc a/k.cl --program other=b/k.cl -o both.clbin
oclcc --info both.clbin | grep -E '^program|^ +kernel ' | uniq
# expected output:
#| program 'k', variant 'default'
#|     kernel    first(global int* a)
#| program 'other', variant 'default'
#|     kernel    second(global int* a)
