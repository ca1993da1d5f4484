#!/bin/bash
# The same error of every device is told once, and names none.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl
