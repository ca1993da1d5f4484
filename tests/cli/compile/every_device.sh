#!/bin/bash
# One entry for each device. Success prints nothing. The output is named after the stem, with
# ".clbin".
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir src
echo 'kernel void k(global int* a) { *a = 1; }' > src/k.cl
oclcc src/k.cl
ls
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
oclcc --info k.clbin | grep -E '^program|source|^ +kernel ' | sort -u
# expected output:
#| k.clbin
#| src
#|     kernel    k(global int* a)
#|   source    kept: 1 file, 41 bytes
#| program 'k', variant 'default'
