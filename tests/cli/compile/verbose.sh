#!/bin/bash
# -v prints complete build logs.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc -v k.cl 2> log; echo "exit $?"
[ "$(grep -c "use of undeclared identifier 'x'" log)" -gt "$device_count" ] || cat log
# expected output:
#| exit 1
