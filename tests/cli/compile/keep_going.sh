#!/bin/bash
# What does not compile on one device is left out, and the status is 1 all the same.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ "$device_count" -gt 1 ] || { echo "there is only one device"; exit 77; }
# A program that the first of the devices refuses, by a macro that only its driver is given: none
# exists, so by its name in a header that only its own options reach is not possible either; one
# program compiles and another does not.
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
ls
oclcc --keep-going good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
oclcc --info both.clbin | grep '^program'
