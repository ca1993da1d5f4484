#!/bin/bash
# Each device builds the source of a bundle that contains only source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --source-only -o k.clbin || exit
[ "$(entries k.clbin)" -eq 0 ] && echo "no entry"
[ "$(oclcc --explain k.clbin | grep -c 'source')" -ge "$device_count" ] && echo "every device builds it"
# expected output:
#| no entry
#| every device builds it
