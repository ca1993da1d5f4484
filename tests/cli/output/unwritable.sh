#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/such/folder/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o k.cl/k.clbin; echo "exit $?"
oclcc k.cl -o k.cl; echo "exit $?"
ls -A
