#!/bin/bash
# The long names of -j, -q and -v, and a sufficient memory limit.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --quiet --jobs 2 --memory-limit=none k.cl; echo "exit $?"
oclcc --verbose --jobs=1 -fsyntax-only k.cl 2> log; echo "exit $?"
[ "$(grep -c 'bytes$' log)" -ge "$device_count" ] || cat log
# expected output:
#| exit 0
#| exit 0
