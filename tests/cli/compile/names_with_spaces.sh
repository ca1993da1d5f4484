#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir 'dé r'
echo '#define A 1' > 'dé r/h é.h'
echo '#include "h é.h"
kernel void k(global int* a) { *a = A; }' > 'dé r/k é.cl'
oclcc 'dé r/k é.cl'; echo "exit $?"
ls
# expected output:
#| exit 0
#| dé r
#| k é.clbin
