#!/bin/bash
# An error that every device reports is printed once, without device names.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl
