#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc - -o - > k.clbin
oclcc --info k.clbin | grep '^program'
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc -; echo "exit $?"
echo 'kernel void k(global int* a) { *a = x; }' | oclcc - -o - > none; echo "exit $?"
wc -c < none
# expected output:
#| program 'stdin', variant 'default'
#| exit 2
#| exit 1
#| 0
# expected errors:
#| oclcc: error: a bundle from standard input has no default name: name it with -o
#| <stdin>:1:37: error: use of undeclared identifier 'x'
#|     1 | kernel void k(global int* a) { *a = x; }
#|       |                                     ^
