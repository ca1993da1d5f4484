#!/bin/bash
# The output does not depend on the number of compilers that run at once, on all platforms together.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0
echo 'kernel void k(global int* a) { a[get_global_id(0)] = N; }' > k.cl
echo 'kernel void l(global float* a) { a[get_global_id(0)] *= N; }' > l.cl
for jobs in 1 2 4; do
  oclcc -j $jobs k.cl l.cl --variant one=-DN=1 --variant two=-DN=2 -o $jobs.clbin
done
[ "$(entries 1.clbin)" = $((4 * device_count)) ] && echo complete
cmp 1.clbin 2.clbin
cmp 1.clbin 4.clbin
# expected output:
#| complete
