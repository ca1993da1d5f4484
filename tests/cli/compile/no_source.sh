#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 12345; }' > k.cl
oclcc k.cl --no-source
oclcc --info k.clbin | grep source
oclcc k.cl
oclcc --info k.clbin | grep source
# expected output:
#|   source    not kept
#|   source    kept: 1 file, 45 bytes
