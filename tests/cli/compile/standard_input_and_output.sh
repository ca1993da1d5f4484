#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc - -o - > k.clbin
oclcc --info k.clbin | grep '^program'
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc -; echo "exit $?"
echo 'kernel void k(global int* a) { *a = x; }' | oclcc - -o - > none; echo "exit $?"
wc -c < none
