#!/bin/bash
# --specialize: kernels that are there, sizes that fit; and what PoCL's binary holds then.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
cat > k.cl << 'END'
kernel void free_size(global int* a) { a[get_global_id(0)] = 1; }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed_size(global int* a) { *a = 2; }
END
oclcc k.cl --specialize free=16; echo "exit $?"
oclcc k.cl --specialize fixed_size=8; echo "exit $?"
oclcc k.cl --specialize fixed_size=4x2 --specialize free_size=16x2 --specialize free_size=8
echo "exit $?"
ls

pocl=$(device_of 'Portable Computing Language') || exit 77
oclcc --info k.clbin | sed -n '/Portable/,$p' | grep -o 'specialized for.*'
# What the binary holds: "/KERNEL/X-Y-Z…/KERNEL.so".
code() { grep -a -o '/free_size/[-0-9a-z]*/free_size\.so' "$1" | cut -d/ -f3; }
oclcc k.cl --device "$pocl" --specialize free_size=16x2 --specialize free_size=8 -o both.bin
code both.bin
# A unit is made alike whatever its worker made before, with other sizes or none.
echo 'kernel void other(global int* a) { *a = 3; }' > none.cl
cp k.cl k2.cl
echo '//' >> k2.cl
oclcc -j1 --device "$pocl" none.cl k2.cl k.cl --specialize free_size=16x2 -o many.clbin
oclcc -j1 --device "$pocl" k.cl --specialize free_size=16x2 -o one.clbin
digest_of_k() { oclcc --info "$1" | sed -n "/program 'k',/,\$p" | grep -m1 '^    digest'; }
[ "$(digest_of_k many.clbin)" = "$(digest_of_k one.clbin)" ] || echo "not the same binary"
# The order of the options is no matter; nor is the file system, which lists folders in its own.
mkdir elsewhere
TMPDIR=$PWD/elsewhere oclcc k.cl --device "$pocl" --specialize free_size=8 \
  --specialize free_size=16x2 --specialize free_size=8 -o again.bin
cmp both.bin again.bin
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
  TMPDIR=/dev/shm oclcc k.cl --device "$pocl" --specialize free_size=8 \
    --specialize free_size=16x2 -o again.bin
  cmp both.bin again.bin
fi
