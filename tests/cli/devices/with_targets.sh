#!/bin/bash
# --target alone leaves installed devices out. With --device, a bundle has both.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
if ! oclcc --list-targets | grep -q -x spirv:1.2; then
  oclcc --list-targets | grep '^spirv:1.2 '
  exit 77
fi
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o devices.clbin
oclcc k.cl --target spirv:1.2 -o target.clbin && oclcc --info target.clbin | grep '^    target'
oclcc k.cl --target spirv:1.2 --device all -o both.clbin
[ "$(entries both.clbin)" -eq $(($(entries devices.clbin) + 1)) ] && echo "both"
oclcc --merge devices.clbin target.clbin -o merged.clbin && oclcc --repack merged.clbin -o repacked.clbin
cmp both.clbin repacked.clbin && echo "the same as merged"
# expected output:
#|     target    spirv:1.2
#| both
#| the same as merged
