#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --device 'no such thing' k.cl; echo "exit $?"
oclcc --device 90:90 k.cl; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| k.cl
# expected errors:
#| oclcc: error: no device matches 'no such thing'; there are *
#| oclcc: error: no device matches '90:90'; there are *
