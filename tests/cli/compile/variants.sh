#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = V + W; }' > k.cl
oclcc k.cl -DW=1 --variant one=-DV=1 --variant two='-DV=2 -cl-fast-relaxed-math'
oclcc --info k.clbin | grep -E '^program|^  options'
oclcc k.cl -DW=1 --variant one=-DV=1 --variant bad=-DX -o other.clbin > out 2>&1; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'V'" out | sort -u
ls
# expected output:
#| program 'k', variant 'one'
#|   options   -DW=1 -DV=1
#| program 'k', variant 'two'
#|   options   -DW=1 -DV=2 -cl-fast-relaxed-math
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'V'
#| k.cl
#| k.clbin
#| out
