#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o /dev/full; echo "exit $?"
oclcc k.cl -o - > /dev/full; echo "exit $?"
[ -c /dev/full ] && ls -A
