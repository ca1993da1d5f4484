#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl -o new.clbin 2> /dev/null; echo "exit $?"
echo untouched > old.clbin
oclcc k.cl -o old.clbin 2> /dev/null; echo "exit $?"
cat old.clbin
ls -A
