#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o /dev/full; echo "exit $?"
oclcc k.cl -o - > /dev/full; echo "exit $?"
[ -c /dev/full ] && ls -A
# expected output:
#| exit 3
#| exit 3
#| k.cl
# expected errors:
#| oclcc: error: cannot write '/dev/full': No space left on device
#| oclcc: error: cannot write standard output: No space left on device
