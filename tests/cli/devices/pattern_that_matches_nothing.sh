#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --device 'no such thing' k.cl; echo "exit $?"
oclcc --device 90:90 k.cl; echo "exit $?"
ls
