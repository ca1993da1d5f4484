#!/bin/bash
# --specialize requires existing kernels and fitting sizes. Also tests the contents of PoCL's
# binary.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
cat > k.cl << 'END'
kernel void free_size(global int* a) { a[get_global_id(0)] = 1; }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed_size(global int* a) { *a = 2; }
END
oclcc k.cl --specialize fixed_size=4x2 --specialize free_size=16x2 --specialize free_size=8
echo "exit $?"
ls

see_only 'Portable Computing Language'
pocl=$device
oclcc k.cl -o none.clbin --specialize free=16; echo "exit $?"
oclcc k.cl -o none.clbin --specialize fixed_size=8; echo "exit $?"
oclcc --info -v k.clbin | sed -n '/Portable/,$p' | grep -o 'specialized for.*'
# The output of --info and -v for kernels without a size. A hint counts as a size.
cat > hints.cl << 'END'
kernel __attribute__((work_group_size_hint(4, 2, 1))) void hinted(global int* a) { *a = 1; }
kernel __attribute__((work_group_size_hint(65536, 65536, 1))) void huge(global int* a) { *a = 2; }
kernel void plain(global int* a) { *a = 3; }
END
oclcc -v hints.cl --device "$pocl" 2>&1 | grep 'first launch'
oclcc -v hints.cl --device "$pocl" 2>&1 | grep -c 'first launch' # also on a hit
oclcc hints.cl --device "$pocl"
oclcc --info -v hints.clbin | grep -o 'specialized for.*\|launch  .*'
oclcc --info --json hints.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --info --json hints.clbin | tr -d ' \n' | grep -o '"compiled_at_first_launch":[^]]*\]'
oclcc hints.cl --device "$pocl" -o hints.bin
grep -a -o '/hinted/4-2-1[-a-z0-9]*/hinted\.so' hints.bin | sort -u
oclcc -v hints.cl --device "$pocl" --specialize huge=1 --specialize plain=2 2>&1 | grep 'first launch'
oclcc --info -v hints.clbin | grep '^    launch'
echo 'kernel void one(global int* a) { *a = 1; }' > one.cl
oclcc one.cl --device "$pocl"
oclcc --info -v one.clbin | grep '^    launch'
oclcc --strip --strip-reflection one.clbin
oclcc --info -v one.clbin | grep '^    launch'
oclcc --info --json one.clbin | grep '"compiled_at_first_launch"'
rm hints.* one.*
# PoCL's binary contains the path "/KERNEL/X-Y-Z…/KERNEL.so".
code() { grep -a -o '/free_size/[-0-9a-z]*/free_size\.so' "$1" | cut -d/ -f3; }
oclcc k.cl --device "$pocl" --specialize free_size=16x2 --specialize free_size=8 -o both.bin
code both.bin
# The binary of a unit does not depend on the units, or their sizes, that its worker built before.
echo 'kernel void other(global int* a) { *a = 3; }' > none.cl
cp k.cl k2.cl
echo '//' >> k2.cl
oclcc -j1 --device "$pocl" none.cl k2.cl k.cl --specialize free_size=16x2 -o many.clbin
oclcc -j1 --device "$pocl" k.cl --specialize free_size=16x2 -o one.clbin
digest_of_k() { oclcc --info -v "$1" | sed -n "/program 'k',/,\$p" | grep -m1 '^    digest'; }
[ "$(digest_of_k many.clbin)" = "$(digest_of_k one.clbin)" ] || echo "not the same binary"
# The order of the options does not matter, nor the order in which the file system lists folders.
mkdir elsewhere
TMPDIR=$PWD/elsewhere oclcc k.cl --device "$pocl" --specialize free_size=8 \
  --specialize free_size=16x2 --specialize free_size=8 -o again.bin
cmp both.bin again.bin
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
  TMPDIR=/dev/shm oclcc k.cl --device "$pocl" --specialize free_size=8 \
    --specialize free_size=16x2 -o again.bin
  cmp both.bin again.bin
fi
# expected output:
#| exit 0
#| k.cl
#| k.clbin
#| exit 2
#| exit 2
#| specialized for 4x2x1
#| specialized for 8x1x1, 16x2x1
#| oclcc: note: hints.cl: the first launch of 'huge', 'plain' compiles on '*'; to avoid it, add --specialize huge=SIZE --specialize plain=SIZE with the size of the work-groups
#| 1
#| specialized for 4x2x1
#| launch    the first launch of 'huge', 'plain' compiles; --specialize avoids it
#| fits the schema
#| "compiled_at_first_launch":["huge","plain"]
#| /hinted/4-2-1-goffs0-smallgrid/hinted.so
#| /hinted/4-2-1-goffs0/hinted.so
#|     launch    the first launch of every kernel compiles; --specialize avoids it
#|               "compiled_at_first_launch": null,
#| 0-0-0
#| 16-2-1-goffs0
#| 16-2-1-goffs0-smallgrid
#| 4-2-1-goffs0
#| 4-2-1-goffs0-smallgrid
#| 8-1-1-goffs0
#| 8-1-1-goffs0-smallgrid
# expected errors:
#| oclcc: error: '--specialize free=16x1x1': there is no kernel 'free'; there are 'fixed_size', 'free_size'
#| oclcc: error: '--specialize fixed_size=8x1x1': the kernel requires work-groups of 4x2x1
