#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir inc
echo '#define A 1' > a.h
echo '#define B (A + 1)' > inc/b.h
echo 'kernel void k(global int* a) { *a = B; }' > k.cl
oclcc -include a.h -I inc -include b.h k.cl; echo "exit $?"
echo '
kernel void k(global int* a) { *a = B + x; }' > k.cl
oclcc -include a.h -I inc -include b.h k.cl 2> errors; echo "exit $?"
grep error errors
# expected output:
#| exit 0
#| exit 1
#| k.cl:2:41: error: use of undeclared identifier 'x'
