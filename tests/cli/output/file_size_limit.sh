#!/bin/bash
# A write beyond `ulimit -f` is an error like that of a full disk: nothing is left behind.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
# Large enough for every file that a driver writes, and too small for the bundle.
{ echo '/*'; head -c 300000 /dev/urandom | base64; echo '*/'; } >> k.cl
oclcc k.cl -o k.clbin; echo "exit $?"
cp k.clbin before.clbin
(ulimit -f 200; oclcc -v k.cl -o k.clbin 2> log; echo "exit $?"; grep error log)
cmp k.clbin before.clbin
find . "$XDG_CACHE_HOME" -name '*.tmp' -o -name '*.new'
rm -r "$XDG_CACHE_HOME"
(ulimit -f 200; oclcc --source-only k.cl -o k.clbin; echo "exit $?")
(ulimit -f 0; oclcc --info k.clbin > out; echo "exit $?")
ls -A
find "$XDG_CACHE_HOME" -name '*.new'
true
