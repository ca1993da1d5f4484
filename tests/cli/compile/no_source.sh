#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 12345; }' > k.cl
oclcc k.cl --no-source
oclcc --info k.clbin | grep source
oclcc k.cl
oclcc --info k.clbin | grep source
