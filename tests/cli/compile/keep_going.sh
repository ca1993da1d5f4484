#!/bin/bash
# --keep-going leaves out programs that do not compile, and the exit status is still 1.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ "$device_count" -gt 1 ] || { echo "there is only one device"; exit 77; }
# One program compiles, and the other does not.
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
ls
oclcc --keep-going good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
oclcc --info both.clbin | grep '^program'
# expected output:
#| exit 1
#| bad.cl
#| good.cl
#| exit 1
#| program 'good', variant 'default'
