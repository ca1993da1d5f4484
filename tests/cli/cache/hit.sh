#!/bin/bash
# The second run builds nothing, writes the same bytes and prints the same warnings.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo '#warning careful
kernel void k(global int* a) { *a = 1; }
kernel void l(local float4* b, read_only image2d_t c) { b[0] = 2; }' > k.cl
options=(-cl-mad-enable --variant one=-DX=1 --variant two=)
oclcc k.cl "${options[@]}" --no-cache -o built.clbin 2> built
oclcc k.cl "${options[@]}" -o first.clbin 2> first
oclcc k.cl "${options[@]}" -o second.clbin -v 2> verbose
oclcc k.cl "${options[@]}" -o third.clbin -j1 2> third
grep -c 'compile cache: hit$' verbose | grep -v "^$((2 * device_count))$"
grep 'compile cache: miss' verbose
grep '^bundle: ' verbose
for n in first second third; do cmp built.clbin $n.clbin; done
cmp built first
cmp built third
# Each device alone, also into a raw binary.
for device in $devices; do
  oclcc k.cl -cl-mad-enable -DX=1 --device "$device" -o k.bin -v 2>&1 | grep 'compile cache: ' | grep -v 'hit$'
  [ -s k.bin ] || echo "$device: no binary"
done
true
# expected output:
#| bundle: from the compile cache
