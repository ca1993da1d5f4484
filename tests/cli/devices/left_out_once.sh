#!/bin/bash
# A driver that crashes when its devices are listed is reported once per run, for any number of
# bundles.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin
cp k.clbin l.clbin
mkdir vendors
cp "$OCL_ICD_VENDORS"/*.icd vendors
cat > crash.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void crash(void) { abort(); }
END
gcc -shared -fPIC crash.c -o crash.so
echo "$PWD/crash.so" > vendors/zz_crash.icd
export OCL_ICD_VENDORS=$PWD/vendors
for mode in "--verify --run" --explain; do
  # shellcheck disable=SC2086 # two words
  oclcc $mode k.clbin l.clbin > out; echo "$mode: exit $?"
done
[ "$(grep -c 'the bundle.s binary loads' out)" = "$((2 * device_count))" ] || cat out
# expected output:
#| --verify --run: exit 0
#| --explain: exit 0
# expected errors:
#| oclcc: warning: '*/crash.so' is skipped: while listing its devices, it crashed (signal 6)
#| oclcc: warning: '*/crash.so' is skipped: while listing its devices, it crashed (signal 6)
