#!/bin/bash
# An error that every device reports is printed once, without device names.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl
# expected exit status: 1
# expected errors:
#| k.cl:1:37: error: use of undeclared identifier 'x'
#|     1 | kernel void k(global int* a) { *a = x; }
#|       |                                     ^
