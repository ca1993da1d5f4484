#!/bin/bash
# rusticl 22.3 crashes on an array of char that is indexed by a variable. The message names the
# kernel, and the other kernel is usable.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
device=$(device_of rusticl) || { cat skip_reason; exit 77; }
cat > k.cl <<'END'
kernel void good(global int* a) { a[0] = 1; }
kernel void fatal(global int* a) {
  const uchar t[6] = {1, 2, 3, 4, 5, 6};
  a[0] = t[a[1]];
}
END
oclcc --device "$device" k.cl -o k.clbin 2> messages; echo "exit $?"
[ -s messages ] || { echo "this rusticl creates it"; exit 77; }
sed "s/compiler of '.*' crashed/compiler of it crashed/; s/ \[on .*//" messages
oclcc --info k.clbin | grep 'kernel '
oclcc --verify --run --device "$device" k.clbin; echo "exit $?"
# Also on a cache hit.
oclcc -Werror --device "$device" k.cl -o k.clbin 2> again; echo "exit $?"
grep -c "cannot create it" again
# expected output:
#| exit 0
#| k.cl: warning: the driver builds kernel 'fatal', but cannot create it: the compiler of it crashed (signal 11)
#|     kernel    fatal(...)
#|     kernel    good(global int* a)
#| exit 0
#| exit 1
#| 1
