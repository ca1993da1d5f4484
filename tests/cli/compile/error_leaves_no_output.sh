#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl -o new.clbin 2> /dev/null; echo "exit $?"
echo untouched > old.clbin
oclcc k.cl -o old.clbin 2> /dev/null; echo "exit $?"
cat old.clbin
ls -A
# expected output:
#| exit 1
#| exit 1
#| untouched
#| k.cl
#| old.clbin
