#!/bin/bash
# A cubin needs no driver. The bundle does not contain the PTX that the cubin is made from.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs cubin:sm_80
needs cubin:sm_90
oclcc "$ROOT"/kernels/*.cl --target cubin:sm_80,sm_90 --no-cache -j1 -o one.clbin || exit
oclcc "$ROOT"/kernels/*.cl --target cubin:sm_90 --target cubin:sm_80 --no-cache -j2 -o two.clbin || exit
cmp one.clbin two.clbin
programs=$(oclcc --info one.clbin | grep -c '^program')
[ "$(oclcc --info one.clbin | grep -c '^  entry     cubin sm_80')" -eq "$programs" ] || oclcc --info one.clbin
[ "$(oclcc --info one.clbin | grep -c '^  entry     cubin sm_90')" -eq "$programs" ] || oclcc --info one.clbin
[ "$(oclcc --info one.clbin | grep -c '^  entry')" -eq $((programs * 2)) ] || oclcc --info one.clbin
oclcc --list-targets | sed -n 's/^cubin:all = //p' | tr ' ' '\n' > all
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --target cubin:all --no-cache -o all.clbin && oclcc --info all.clbin | sed -n 's/^    target    //p' | sort | cmp - <(sort all)
oclcc k.cl --target cubin:sm_120 -o k.cubin # higher than any that clang knows
file -b k.cubin | grep -o 'ELF 64-bit.*CUDA'
# expected output:
#| ELF 64-bit*CUDA*
